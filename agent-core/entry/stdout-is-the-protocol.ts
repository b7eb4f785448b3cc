/** Keeps stray prints of libraries off stdout, which carries the protocol alone: imported before anything else. */
import { Console } from "node:console";

globalThis.console = new Console(process.stderr, process.stderr);
