// Written by scripts/tables.mjs; do not edit. Run `npm run tables` after adding a file to this folder.
import type { Tool } from "./tool.ts";
import { tool as clarify } from "./clarify.ts";
import { tool as cronjob } from "./cronjob.ts";
import { tool as delegateTask } from "./delegate-task.ts";
import { tool as executeCode } from "./execute-code.ts";
import { tool as memory } from "./memory.ts";
import { tool as patch } from "./patch.ts";
import { tool as process } from "./process.ts";
import { tool as readFile } from "./read-file.ts";
import { tool as searchFiles } from "./search-files.ts";
import { tool as sessionSearch } from "./session-search.ts";
import { tool as skillManage } from "./skill-manage.ts";
import { tool as skillView } from "./skill-view.ts";
import { tool as skillsList } from "./skills-list.ts";
import { tool as terminal } from "./terminal.ts";
import { tool as todo } from "./todo.ts";
import { tool as visionAnalyze } from "./vision-analyze.ts";
import { tool as webExtract } from "./web-extract.ts";
import { tool as webSearch } from "./web-search.ts";
import { tool as writeFile } from "./write-file.ts";
import { tools as browser } from "./browser.ts";
import { tools as editor } from "./editor.ts";

export const table: readonly Tool[] = [clarify, cronjob, delegateTask, executeCode, memory, patch, process, readFile, searchFiles, sessionSearch, skillManage, skillView, skillsList, terminal, todo, visionAnalyze, webExtract, webSearch, writeFile, ...browser, ...editor];
