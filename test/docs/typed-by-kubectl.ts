import { readFile } from 'node:fs/promises';
import { loadAll } from 'js-yaml';
import { systemClock } from '../../src/base/system-clock.ts';
import { HttpTransport } from '../../src/client/http/http-transport.ts';
import { KubeClient } from '../../src/client/kube-client.ts';
import { loadKubeconfig } from '../../src/client/kubeconfig.ts';
import { poll } from '../planes/poll.ts';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

interface Resource {
  readonly name: string;
  readonly singularName: string;
  readonly shortNames?: readonly string[];
  readonly kind: string;
}

const tableAccept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const groups = ['/api/v1', '/apis/scheduling.x-k8s.io/v1alpha1'];

/** Sends the requests of kubectl, and prints its output, for a few commands of the README, without a process. */
export class TypedByKubectl {
  readonly #client: KubeClient;
  readonly #transport: HttpTransport;

  constructor(transport: HttpTransport) {
    this.#transport = transport;
    this.#client = new KubeClient({ transport, clock: systemClock, userAgent: 'kubectl' });
  }

  static async open(kubeconfigPath: string): Promise<TypedByKubectl> {
    return new TypedByKubectl(
      new HttpTransport({ endpoint: await loadKubeconfig({ clock: systemClock, path: kubeconfigPath }) }),
    );
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  /** Returns the output of the command; throws for an unknown command. */
  async run(command: string): Promise<string> {
    const [, verb, what = '', option = ''] = command.split(' ');
    if (verb === 'apply' && what === '-f') return this.#apply(option);
    if (verb === 'wait') return this.#wait(what, /^--for=condition=(\w+)$/.exec(option)![1]!);
    if (verb === 'get' && option === '') return this.#get(what);
    throw new Error(`unknown command: ${command}`);
  }

  async #apply(file: string): Promise<string> {
    const lines: string[] = [];
    for (const object of loadAll(await readFile(file, 'utf8')) as Manifest[]) {
      const { apiVersion, kind, metadata } = object;
      const group = apiVersion.includes('/') ? apiVersion.split('/')[0]! : '';
      const { path, resource } = await this.#find(({ kind: served }) => served === kind);
      await this.#client.create(`${path}?fieldManager=kubectl-client-side-apply&fieldValidation=Strict`, {
        ...object,
        metadata: {
          ...metadata,
          annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `${JSON.stringify(object)}\n` },
        },
      });
      const type = [resource.singularName || kind.toLowerCase(), group].filter((part) => part !== '').join('.');
      lines.push(`${type}/${metadata.name} created`);
    }
    return lines.join('\n');
  }

  async #wait(what: string, condition: string): Promise<string> {
    const [type, name] = what.split('/');
    const { path, resource, group } = await this.#find(({ singularName, shortNames = [] }) =>
      [singularName, ...shortNames].includes(type!),
    );
    await poll(async () => {
      const { status } = await this.#client.get<{
        status?: { conditions?: readonly { readonly type: string; readonly status: string }[] };
      }>(`${path}/${name}`);
      const isMet = status?.conditions?.some((each) => each.type === condition && each.status === 'True');
      return isMet === true ? undefined : JSON.stringify(status ?? 'no status');
    }, `${what} is ${condition}`);
    return `${resource.singularName}${group === '' ? '' : `.${group}`}/${name} condition met`;
  }

  async #get(type: string): Promise<string> {
    const { path } = await this.#find(({ name, shortNames = [] }) => [name, ...shortNames].includes(type));
    const { text } = await this.#client.call({
      method: 'GET',
      path: `${path}?limit=500`,
      headers: { accept: tableAccept },
    });
    const { columnDefinitions, rows } = JSON.parse(text) as Table;
    const shown = columnDefinitions.flatMap(({ name, priority }, index) => (priority === 0 ? [{ name, index }] : []));
    const cells = [
      shown.map(({ name }) => name.toUpperCase()),
      ...rows.map((row) => shown.map(({ index }) => String(row.cells[index]))),
    ];
    const widths = shown.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
    return cells
      .map((row) =>
        row
          .map((cell, i) => cell.padEnd(widths[i]!))
          .join('   ')
          .trimEnd(),
      )
      .join('\n');
  }

  /** Finds an object in the namespace `default`. */
  async #find(
    is: (resource: Resource) => boolean,
  ): Promise<{ readonly path: string; readonly resource: Resource; readonly group: string }> {
    for (const base of groups) {
      const { resources } = await this.#client.get<{ resources: readonly Resource[] }>(base);
      const resource = resources.find((each) => !each.name.includes('/') && is(each));
      if (resource === undefined) continue;
      const group = base.startsWith('/apis/') ? base.split('/')[2]! : '';
      return { path: `${base}/namespaces/default/${resource.name}`, resource, group };
    }
    throw new Error('no such resource is served');
  }
}
