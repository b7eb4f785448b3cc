/** Redirects the console to stderr: stdout carries the protocol alone. Must be the first import. */
import { Console } from "node:console";

globalThis.console = new Console(process.stderr, process.stderr);
