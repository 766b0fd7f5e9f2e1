import { Socket } from 'node:net';
import { beforeEach, expect, it } from 'vitest';
import { OpenConnections } from './open-connections.ts';

let connections: OpenConnections;
let port: number;

beforeEach(() => {
  connections = new OpenConnections({ connections: 6, connectionsOfOneAddress: 3 });
  port = 1_000;
});

/** Adds a connection from this address, from a port of its own. */
function open(address: string, isBusy = false): Socket {
  const client = { remoteAddress: { value: address }, remotePort: { value: port++ } };
  const socket = Object.defineProperties(new Socket(), client);
  connections.add(socket);
  connections.setBusy(socket, isBusy);
  return socket;
}

const openOf = (sockets: readonly Socket[]): boolean[] => sockets.map(({ destroyed }) => !destroyed);

it('closes the connection of the same address that has been idle longest, beyond the limit of one address', () => {
  const [first, second, third] = [open('a'), open('a'), open('a')];
  connections.setBusy(first, true);
  connections.setBusy(second, true);
  connections.setBusy(second, false); // idle for less time than the third
  const fourth = open('a');
  expect(openOf([first, second, third, fourth])).toEqual([true, true, false, true]);
  expect(openOf([first, open('a'), second, fourth])).toEqual([true, true, false, true]);
});

it('closes a new connection if all connections of its address are busy', () => {
  const busy = [open('a', true), open('a', true), open('a', true)];
  expect(open('a').destroyed).toBe(true);
  expect(openOf(busy)).toEqual([true, true, true]);
});

it('gives a new address a slot of the address with the most connections', () => {
  const [own, ...others] = [open('b'), open('a'), open('a'), open('a'), open('c'), open('c')];
  const added = open('d');
  expect(openOf([added, own, ...others])).toEqual([true, true, false, true, true, true, true]);
});

it('closes a busy connection for a new address only if no connection of the heaviest address is idle', () => {
  const [first, second, ...others] = ['a', 'a', 'a', 'b', 'b', 'b'].map((address) => open(address, true));
  const idle = second!;
  connections.setBusy(idle, false);
  open('c');
  expect(openOf([first!, idle, ...others])).toEqual([true, false, true, true, true, true]);
  open('d'); // b has the most connections now
  expect(openOf([first!, ...others])).toEqual([true, true, false, true, true]);
});

it('frees the slots of connections that have closed', async () => {
  const sockets = [open('a'), open('a'), open('a')];
  sockets[0]!.destroy();
  await expect.poll(() => [...connections]).toEqual(sockets.slice(1));
  const fourth = open('a');
  expect(openOf([...sockets.slice(1), fourth])).toEqual([true, true, true]);
});
