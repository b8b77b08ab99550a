// Remembers and finds with a client that a generator made of `/contract/openapi.json`:
// `node openapi.mjs CLIENT HTTP_URL KEY`, CLIENT being the folder of it. Prints JSON.
const [folder, baseUrl, key] = process.argv.slice(2);
const { memoryServiceAddMemory, searchServiceSearch } = await import(`${folder}/sdk.gen.ts`);
const { client } = await import(`${folder}/client.gen.ts`);
client.setConfig({ baseUrl, auth: () => key });

const content = "Remembered by a generated client.";
const remember = (content) =>
  memoryServiceAddMemory({ body: { requestId: crypto.randomUUID(), memory: { content } } });
const added = await remember(content);
const found = await searchServiceSearch({
  body: { query: content, consistency: { atLeastAsFresh: added.data.token } },
});
const refused = await remember("");
console.log(
  JSON.stringify({
    id: added.data.memory.id,
    found: found.data.results.map((each) => each.memory.id),
    refused: refused.error.details[0].debug.reason,
  }),
);
