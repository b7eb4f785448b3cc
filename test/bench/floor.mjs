// Floor of every agent: asks the model, parses the event stream, prints the text, reads the file that a call names, loops.
import { readFileSync } from "node:fs";

const [url, prompt] = process.argv.slice(2);
const messages = [{ role: "user", content: prompt }];
for (let json = "{}"; json !== ""; ) {
  const body = JSON.stringify({ model: "floor", stream: true, messages });
  const response = await fetch(`${url}/chat/completions`, { method: "POST", body });
  let rest = "";
  json = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines.filter((line) => line.startsWith("data: {"))) {
      const delta = JSON.parse(line.slice(6)).choices[0]?.delta;
      if (delta?.content) process.stdout.write(delta.content);
      json += delta?.tool_calls?.[0].function.arguments ?? "";
    }
  }
  if (json !== "") messages.push({ role: "tool", content: readFileSync(JSON.parse(json).path, "utf8") });
}
