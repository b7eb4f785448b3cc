/** All forms of request. Written by hand: the first that fits decides. */
import type { OfflineForm } from "./form.ts";
import { ask } from "./forms/ask.ts";
import { create } from "./forms/create.ts";
import { list } from "./forms/list.ts";
import { plan } from "./forms/plan.ts";
import { read } from "./forms/read.ts";
import { remember } from "./forms/remember.ts";
import { replace } from "./forms/replace.ts";
import { run } from "./forms/run.ts";
import { search } from "./forms/search.ts";

/** `list` before `read` (`show the files`), `plan` before `create` (`make a plan`). */
export const grammar: readonly OfflineForm[] = [list, read, search, replace, plan, create, run, ask, remember];
