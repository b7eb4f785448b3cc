/** Messages for chats that a process leaves in the home. The gateway to chats, which may run later, sends them. */
import { join } from "node:path";
import * as z from "zod";
import { newId } from "../platform/new-id.ts";
import { writeJsonFile } from "./home-file.ts";

/** `to`: `platform`, `platform:chat` or `platform:chat:thread`. `text`: Markdown. */
export const deliverySchema = z.object({ to: z.string(), text: z.string() });

/** Folder of messages that wait for the gateway. */
export function deliveriesFolder(home: string): string {
  return join(home, "gateway", "deliveries");
}

/** Leaves a message for a chat. Rejects when it cannot be written. */
export function leaveDelivery(home: string, delivery: z.input<typeof deliverySchema>): Promise<void> {
  return writeJsonFile(join(deliveriesFolder(home), `${Date.now()}-${newId()}.json`), delivery);
}
