/** Version in package.json; the bundler inserts it. */
declare const __VERSION__: string;

export const VERSION: string = __VERSION__;
