// Remembers and finds over the Connect and gRPC protocols, with nothing of Concord's but its
// descriptors: `node remember.mjs DESCRIPTORS HTTP_URL GRPC_URL KEY`. Prints JSON.
import { readFileSync } from "node:fs";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";

const [descriptors, httpUrl, grpcUrl, key] = process.argv.slice(2);
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(descriptors)));
const withKey = (next) => (request) => {
  request.header.set("authorization", `Bearer ${key}`);
  return next(request);
};
const transports = {
  connect: createConnectTransport({ baseUrl: httpUrl, httpVersion: "1.1", interceptors: [withKey] }),
  grpc: createGrpcTransport({ baseUrl: grpcUrl, interceptors: [withKey] }),
};

const told = {};
for (const [name, transport] of Object.entries(transports)) {
  const client = (service) => createClient(registry.getService(service), transport);
  const memories = client("concord.graph.v1.MemoryService");
  const content = `Remembered over ${name}.`;
  const added = await memories.addMemory({ requestId: crypto.randomUUID(), memory: { content } });
  const found = await client("concord.search.v1.SearchService").search({
    query: content,
    consistency: { atLeastAsFresh: added.token },
  });
  let refused;
  try {
    await memories.addMemory({ requestId: crypto.randomUUID(), memory: { content: "" } });
  } catch (error) {
    refused = ConnectError.from(error);
  }
  told[name] = {
    id: added.memory.id,
    found: found.results.map((each) => each.memory.id),
    refused: Code[refused.code],
    details: refused.details.length,
  };
}
let streamed = 0;
const space = createClient(registry.getService("concord.graph.v1.SpaceService"), transports.grpc);
for await (const part of space.exportSpace({})) streamed += part.lines.length;
console.log(JSON.stringify({ ...told, streamed }));
