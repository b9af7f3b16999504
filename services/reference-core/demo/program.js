// Which open tasks are late, who owns them, and what do the late owners' orders add up to?
const today = '2026-02-01';
const root = (await apps.filesystem.list_allowed_directories()).content[0].text.split('\n')[1];
const read = async (path) => (await apps.filesystem.read_text_file({ path: `${root}/${path}` })).content[0].text;

const listing = await apps.filesystem.list_directory({ path: `${root}/notes` });
const files = listing.content[0].text.match(/\S+\.md/g).sort();
console.log('reading', files.length, 'notes at once');
const notes = await Promise.all(files.map((file) => read(`notes/${file}`)));

const task = /^- \[ \] (?<what>.+?) \(@(?<who>\w+), due (?<due>[\d-]+)\)$/gm;
const late = notes
  .flatMap((text) => [...text.matchAll(task)].map(({ groups }) => ({ ...groups })))
  .filter(({ due }) => due < today)
  .sort((a, b) => a.due.localeCompare(b.due));
console.log('late tasks:', late.length);

const { entities } = (await apps.memory.read_graph()).structuredContent;
const city = (who) => entities.find(({ name }) => name.toLowerCase() === who)?.observations[0] ?? 'unknown';

const orders = (await read('data/orders.csv')).trim().split('\n').slice(1).map((line) => line.split(','));
let total = 0;
for (const [, who, amount] of orders.filter(([, who]) => late.some((one) => one.who === who))) {
  const sum = await apps.everything.get_sum({ a: total, b: Number(amount) });
  total = Number(sum.content[0].text.match(/is (-?\d+)/)[1]);
}

const report = late.map(({ what, who, due }) => `${due}  ${who} (${city(who)}): ${what}`).join('\n');
await apps.filesystem.write_file({ path: `${root}/report.txt`, content: `${report}\n` });

try {
  await apps.everything.get_summ({ a: 1, b: 2 });
} catch (error) {
  console.warn(error.message);
}
return { late: late.length, total, report: await read('report.txt') };
