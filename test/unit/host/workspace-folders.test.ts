import { expect, test } from "vitest";
import { inWorkspaceFolders, titleInFolders } from "../../../agent-core/host/workspace-folders.ts";
import { distinctNames } from "../../../agent-core/platform/names.ts";

test("folders of the same name are told apart by their parents", () => {
  expect(distinctNames(["/w/one/app", "/w/two/app", "/w/lib"])).toEqual(["one/app", "two/app", "lib"]);
  expect(distinctNames(["/a", "/b/a", "C:\\c\\a"])).toEqual(["/a", "b/a", "c/a"]);
});

test("titles show paths as VS Code labels them, and never one name for two folders", () => {
  const title = "Compare /w/one/app/a.ts with /w/two/app/a.ts and /w/lib/a.ts";
  expect(titleInFolders(title, "/w/one/app", ["/w/two/app", "/w/lib"])).toBe(
    "Compare a.ts with two/app/a.ts and lib/a.ts",
  );
  expect(titleInFolders("Read /w/one/app/src/a.ts", "/w/one/app", [])).toBe("Read src/a.ts");
});

test("a path that begins with a folder's name is in that folder, unless two folders have the name", () => {
  const folders = ["/w/two/app", "/w/lib"];
  const pathOf = (path: string) => inWorkspaceFolders({ path }, "/w/one/app", folders);
  expect(pathOf("lib/a.ts")).toEqual({ path: "/w/lib/a.ts" });
  expect(pathOf("two/app/a.ts")).toEqual({ path: "/w/two/app/a.ts" });
  expect(pathOf("one/app")).toEqual({ path: "/w/one/app" });
  expect(pathOf("app/a.ts")).toEqual({ path: "app/a.ts" });
});
