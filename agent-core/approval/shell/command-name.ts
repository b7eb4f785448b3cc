/** Which program a command word names. */

const SYSTEM_FOLDERS = /^(?:\/usr(?:\/local)?)?\/s?bin\/|^\/opt\/homebrew\/bin\/|^\/opt\/local\/bin\//;
/** Programs that a package manager put into the project: as good as by name. */
const PROJECT_FOLDERS = /^(?:\.\/)?(?:[\w@.-]+\/)*(?:node_modules\/\.bin|vendor\/bin|\.?venv\/bin)\//;
const WRAPPERS = /^\.\/(?:gradlew|mvnw)$/;

export type Located = {
  /** Name to look the program up by. */
  readonly name: string;
  /** True when it is the program of that name, as far as a path can tell; false for `./ls`. */
  readonly trusted: boolean;
};

export function locate(word: string): Located {
  const slash = word.lastIndexOf("/");
  const name = word.slice(slash + 1).replace(/\.exe$/i, "");
  if (slash < 0) return { name, trusted: true };
  const climbs = word.split("/").includes("..");
  return { name, trusted: !climbs && [SYSTEM_FOLDERS, PROJECT_FOLDERS, WRAPPERS].some((place) => place.test(word)) };
}
