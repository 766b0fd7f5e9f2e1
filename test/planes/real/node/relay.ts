// Relays connections between the loopback and a machine made of namespaces, through sockets in a folder that both can see:
//   node relay.ts outside <socket> <port>                    from the socket to the port of the loopback
//   node relay.ts inside <socket> <address> <proxy socket>   from the address, port 443, to the socket; and for clients of the
//                                                            proxy socket, by HTTP CONNECT, to any address in the machine
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import type { NetConnectOpts } from 'node:net';
import process from 'node:process';
import { pipeline } from 'node:stream';
import type { Duplex } from 'node:stream';

/** Connects both ends; each closes with the other. */
function join(one: Duplex, other: Duplex): void {
  pipeline(one, other, one, () => undefined);
}

function carry(from: NetConnectOpts & { readonly host?: string }, to: NetConnectOpts): void {
  createServer({ allowHalfOpen: true }, (socket) => join(socket, connect({ allowHalfOpen: true, ...to }))).listen(from);
}

function proxy(path: string): void {
  createHttpServer()
    .on('connect', ({ url = '' }, socket, head) => {
      const { hostname, port } = new URL(`http://${url}`);
      const target = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
      target.once('connect', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        target.write(head);
        join(socket, target);
      });
      target.once('error', ({ message }) => socket.end(`HTTP/1.1 502 ${message}\r\n\r\n`));
      socket.once('error', () => target.destroy());
    })
    .listen(path);
}

const [side, path = '', to = '', proxyPath = ''] = process.argv.slice(2);
if (side === 'outside') carry({ path }, { host: '127.0.0.1', port: Number(to) });
else {
  carry({ host: to, port: 443 }, { path });
  proxy(proxyPath);
}
