// An environment for `hermes rollouts`: the answer is in one of the files. Words that repeat the number get the reward.
const people = ["Ada", "Grace", "Alan", "Edsger"];

function questions(seed) {
  return people.map((name, index) => ({ name, room: 100 + ((index * 37 + seed) % 900) }));
}

let items = [];

export default {
  name: "answer-from-files",
  setup({ split }) {
    items = questions(split === "train" ? 1 : 500);
  },
  nextItem: () => items.shift(),
  prompt: ({ name }) => `In which room does ${name} work? The files in this folder say it. Answer with the number.`,
  async prepare({ name, room }, ctx) {
    for (const other of people) {
      await ctx.write(`people/${other.toLowerCase()}.txt`, `${other} works in room ${other === name ? room : 42}.\n`);
    }
  },
  reward: ({ room }, { text }) => (new RegExp(`\\b${room}\\b`).test(text) ? 1 : 0),
};
