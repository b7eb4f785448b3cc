// Makes the program that is loaded next take this machine for Windows, in what it asks of `process`.
Object.defineProperty(process, "platform", { value: "win32" });
