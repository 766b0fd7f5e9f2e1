/**
 * A scheduler extender as a separate process, over HTTPS: `node extender-process.ts FOLDER_OF_CERTIFICATES API_SERVER`. It writes its port to
 * standard output, then a line for each request. The first part of the path selects the behavior:
 *
 * - `only-NAMES` keeps only the nodes with these letters (a, b and so on); `none` keeps none, and gives reasons;
 * - `likes-NAME` scores that node 10;
 * - `binds` binds; `lies` only claims to; `strays` binds to node c;
 * - `dawdles` keeps all nodes, after 20 ms; `rejects` returns an Error; `fails` returns status 500; `babbles` returns invalid JSON; `hangs` never
 *   responds.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';

interface Args {
  readonly Pod?: { readonly metadata: { readonly name: string } };
  readonly NodeNames?: readonly string[] | null;
  readonly Nodes?: { readonly items: readonly { readonly metadata: { readonly name: string } }[] } | null;
  readonly PodName?: string;
  readonly PodNamespace?: string;
  readonly PodUID?: string;
  readonly Node?: string;
}

const [folder = '', apiServer = ''] = process.argv.slice(2);

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, behaviour = '', verb = ''] = (request.url ?? '').split('/');
  const args = JSON.parse(await text(request)) as Args;
  const names = args.NodeNames ?? args.Nodes?.items.map(({ metadata }) => metadata.name) ?? [];
  process.stdout.write(`${JSON.stringify({ behaviour, verb, pod: args.Pod?.metadata.name ?? args.PodName, names })}\n`);
  const send = (body: unknown): void => void response.end(JSON.stringify(body));
  const [kind, of = ''] = behaviour.split('-');
  switch (kind) {
    case 'hangs':
      return;
    case 'fails':
      response.statusCode = 500;
      response.end('out of order');
      return;
    case 'babbles':
      response.end('<html>');
      return;
    case 'rejects':
      send({ Error: 'not today' });
      return;
    case 'lies':
      send({ Error: '' });
      return;
    case 'strays':
      send({ Error: await bind({ ...args, Node: 'c' }) });
      return;
    case 'dawdles':
      setTimeout(() => send({ NodeNames: names }), 20);
      return;
    case 'binds':
      send({ Error: verb === 'bind' ? await bind(args) : '' });
      return;
    case 'likes':
      send(names.map((Host) => ({ Host, Score: Host === of ? 10 : 0 })));
      return;
    case 'none':
      send({ NodeNames: [], FailedNodes: Object.fromEntries(names.map((name) => [name, 'no device'])) });
      return;
    default: {
      const left = names.filter((name) => of.includes(name));
      // Old extenders write this format, and responses to requests with whole nodes have it.
      if (args.NodeNames) send({ nodenames: left, error: '' });
      else send({ Nodes: { items: left.map((name) => ({ metadata: { name } })) } });
    }
  }
}

async function bind({ PodName, PodNamespace, PodUID, Node }: Args): Promise<string> {
  const answered = await fetch(`${apiServer}/api/v1/namespaces/${PodNamespace}/pods/${PodName}/binding`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: PodName, namespace: PodNamespace, uid: PodUID },
      target: { apiVersion: 'v1', kind: 'Node', name: Node },
    }),
  });
  return answered.ok ? '' : `the API server answered ${answered.status}`;
}

const server = createServer(
  { cert: readFileSync(join(folder, 'server.crt')), key: readFileSync(join(folder, 'server.key')) },
  (request, response) => void answer(request, response),
);
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
