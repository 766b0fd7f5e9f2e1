import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { ProcessGroup } from '../process-group.ts';
import { untilReady } from '../until-ready.ts';
import { hangsMs } from '../../patience.ts';

const name = 'machine';

/** Addresses that only programs inside a machine can reach. */
export interface MachineAddresses {
  /** Address of the machine. */
  readonly own: string;
  /** Address of the API server, reached through a relay. */
  readonly apiServer: string;
}

/**
 * A machine made of namespaces of this one. Its network has no way out except the relay. Its processes end with the first one. Its mounts
 * are invisible outside and disappear with it. It shares files and the kernel. Requires root.
 */
export class Machine {
  readonly #group: ProcessGroup;
  readonly #enter: readonly string[];

  private constructor(group: ProcessGroup, enter: readonly string[]) {
    this.#group = group;
    this.#enter = enter;
  }

  /** Resolves when the machine has its addresses and relays the API server, which listens on that loopback port. */
  static async start(group: ProcessGroup, addresses: MachineAddresses, apiServerPort: number): Promise<Machine> {
    const ready = join(group.folder, 'machine-ready');
    const script = fileURLToPath(new URL('machine.sh', import.meta.url));
    await group.start(name, 'unshare', [
      ...['--mount', '--net', '--pid', '--fork', '--kill-child=SIGKILL', '--mount-proc'],
      ...['sh', script, ready, addresses.own, addresses.apiServer],
    ]);
    await untilReady(group, name, hangsMs, () => Promise.resolve(existsSync(ready)));
    const namespaces = `/proc/${group.pid(name)}/ns`;
    const machine = new Machine(group, [
      `--mount=${namespaces}/mnt`,
      `--net=${namespaces}/net`,
      `--pid=${namespaces}/pid_for_children`,
    ]);
    await machine.#relay(addresses.apiServer, apiServerPort);
    return machine;
  }

  /** Runs a program in it until it ends; see ProcessGroup.start. */
  start(program: string, path: string, args: readonly string[]): Promise<void> {
    return this.#group.start(program, 'nsenter', [...this.#enter, '--', path, ...args]);
  }

  /** Command prefix that runs a program in the machine. */
  get command(): readonly string[] {
    return ['nsenter', ...this.#enter, '--'];
  }

  async #relay(address: string, port: number): Promise<void> {
    const script = fileURLToPath(new URL('relay.ts', import.meta.url));
    const socket = join(this.#group.folder, 'api-server.sock');
    const proxy = machineProxy(this.#group.folder);
    await this.#group.start('relay-outside', process.execPath, [script, 'outside', socket, String(port)]);
    await untilReady(this.#group, 'relay-outside', hangsMs, () => Promise.resolve(existsSync(socket)));
    await this.start('relay-inside', process.execPath, [script, 'inside', socket, address, proxy]);
    await untilReady(this.#group, 'relay-inside', hangsMs, () => Promise.resolve(existsSync(proxy)));
  }
}

/** Returns the socket through which the API server reaches addresses in the machine by HTTP CONNECT. */
export function machineProxy(folder: string): string {
  return join(folder, 'machine-proxy.sock');
}
