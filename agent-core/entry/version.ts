/** Version of the product, put in by the bundler from package.json. */
declare const __VERSION__: string;

export const VERSION: string = __VERSION__;
