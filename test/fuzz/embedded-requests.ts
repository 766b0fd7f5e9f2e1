import { Buffer } from 'node:buffer';
import { seededRandom } from '../../src/base/random.ts';
import type { JsonObject, JsonValue as Json } from '../../src/plane/apiserver/json.ts';
import { Draws } from './draws.ts';
import { fuzzResources, fuzzReviews } from './embedded-resources.ts';
import type { FuzzResource } from './embedded-resources.ts';

/** A request that follows the HTTP syntax. */
export interface WellFormed {
  readonly form: 'request';
  /** Its kind, for the counts. */
  readonly kind: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/** Bytes that are written to the socket unchanged. */
export interface RawBytes {
  readonly form: 'bytes';
  readonly kind: 'raw';
  readonly bytes: Buffer;
}

export type FuzzRequest = WellFormed | RawBytes;

/** Returns the request of that number, which depends only on the seed. */
export function embeddedRequest(seed: number, number: number): FuzzRequest {
  // Any two numbers give independent draws.
  const random = seededRandom(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b));
  return new RequestGenerator(new Draws(random)).request();
}

const names = ['a', 'b', 'c', 'd', 'web-0', 'train', 'n1', 'n2'];
const oddNames = [
  'constructor',
  '__proto__',
  'toString',
  'a'.repeat(64),
  'a'.repeat(254),
  '-',
  '.',
  '..',
  'ä',
  '',
  ' ',
  'A',
  'a/b',
  'a%2Fb',
  '\u0000',
  '🎻',
  '$',
  'null',
];
const namespaces = ['default', 'kube-system', 'team', 'none'];
const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];
const numbers = [0, -1, 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 9e15, 1e15, 1e18, 9.3e18, 1e30, 1e308, 0.1, -0];
const texts = [
  '+99:99',
  '2020-01-01T00:00:00+99:99',
  '0000-01-01T00:00:00+23:59',
  '9999-12-31T23:59:59-23:59',
  '1e999999999',
  '-1',
  '1Ei',
  '99999999999999999999999',
  '\ud800',
  '\u0000',
  '\u007f',
  '"',
  '\\',
  'ß',
  'application/json',
  'True',
  '30s',
  '0'.repeat(40),
  'a,'.repeat(50),
  '(('.repeat(50),
  '{{.}}',
  '../..',
  '[?(@.a==1)]',
  '^(a+)+$',
  '.metadata.name',
  '.a[',
  '.a[*]',
  '$',
];

class RequestGenerator {
  readonly #draws: Draws;

  constructor(draws: Draws) {
    this.#draws = draws;
  }

  request(): FuzzRequest {
    const make = this.#draws.weighted<() => FuzzRequest>([
      [24, () => this.#create()],
      [8, () => this.#replace()],
      [24, () => this.#patch()],
      [10, () => this.#read()],
      [4, () => this.#watch()],
      [8, () => this.#delete()],
      [4, () => this.#subresource()],
      [3, () => this.#review()],
      [3, () => this.#odd()],
      [4, () => this.#protobuf()],
      [8, () => this.#raw()],
    ]);
    return make();
  }

  #resource(): FuzzResource {
    // Often creates the CRD, so that it and its objects usually exist.
    return this.#draws.oneIn(12) ? fuzzResources.at(-1)! : this.#draws.pick(fuzzResources);
  }

  #name(): string {
    return this.#draws.oneIn(12) ? this.#draws.pick(oddNames) : this.#draws.pick(names);
  }

  #collection(resource: FuzzResource): string {
    if (this.#draws.oneIn(15)) return resource.path.replace('/namespaces/NS', '');
    const namespace = this.#draws.oneIn(10) ? this.#draws.pick(namespaces) : 'default';
    return resource.path.replace('NS', namespace);
  }

  #object(resource: FuzzResource, name: string): JsonObject {
    const made = structuredClone(resource.make(name));
    const metadata: JsonObject = {
      name,
      ...(this.#draws.oneIn(3) && { labels: { a: 'b' } }),
      ...(made.metadata as JsonObject | undefined),
    };
    if (this.#draws.oneIn(6)) metadata.finalizers = [this.#draws.pick(['example.test/hold', 'hold', 'orphan'])];
    if (this.#draws.oneIn(8))
      metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: this.#draws.pick(['u', 'v']) }];
    if (this.#draws.oneIn(100)) Object.assign(metadata, this.#largeMetadata());
    const object: JsonObject = { apiVersion: resource.apiVersion, kind: resource.kind, ...made, metadata };
    return object;
  }

  /** Returns metadata around the maximum number of values in an object. */
  #largeMetadata(): JsonObject {
    const count = this.#draws.below(60_000);
    const names = Array.from({ length: count }, (_, index) => `a${index}`);
    const [key, value] = this.#draws.pick([
      ['', 'x'],
      ['!', 'x'],
      ['', 1],
    ] as const);
    const map = Object.fromEntries(names.map((each) => [`${each}${key}`, value]));
    return this.#draws.pick<JsonObject>([{ labels: map }, { annotations: map }, { finalizers: names }, map]);
  }

  #create(): WellFormed {
    const resource = this.#resource();
    const object = this.#object(resource, this.#name());
    return this.#write('create', 'POST', this.#collection(resource), object);
  }

  #replace(): WellFormed {
    const resource = this.#resource();
    const name = this.#name();
    const status = this.#draws.oneIn(4) ? '/status' : '';
    return this.#write(
      'replace',
      'PUT',
      `${this.#collection(resource)}/${encodeURIComponent(name)}${status}`,
      this.#object(resource, name),
    );
  }

  #write(kind: string, method: string, path: string, object: JsonObject): WellFormed {
    const hostile = this.#draws.below(4) === 0 ? object : this.#spoiled(object);
    const isYaml = this.#draws.oneIn(6);
    const text = isYaml ? this.#yaml(hostile) : this.#damaged(JSON.stringify(hostile));
    const contentType = isYaml ? 'application/yaml' : 'application/json';
    return this.#sent(
      isYaml ? `${kind} yaml` : kind,
      method,
      `${path}${this.#writeQuery()}`,
      { 'content-type': contentType },
      Buffer.from(text),
    );
  }

  #writeQuery(): string {
    const fieldValidation = this.#draws.pick(['', 'Strict', 'Warn', 'Ignore', 'x']);
    const more = this.#draws.pick([
      '',
      '',
      '',
      '&dryRun=All',
      '&dryRun=x',
      '&fieldManager=%F0%9F%8E%BB',
      `&fieldManager=${'m'.repeat(200)}`,
      '&pretty=true',
    ]);
    return fieldValidation === '' ? '' : `?fieldValidation=${fieldValidation}${more}`;
  }

  #patch(): WellFormed {
    const resource = this.#resource();
    const name = resource.kind === 'CustomResourceDefinition' ? 'things.example.test' : this.#name();
    const contentType = this.#draws.pick(patchTypes);
    const status = this.#draws.oneIn(4) ? '/status' : '';
    const path = `${this.#collection(resource)}/${encodeURIComponent(name)}${status}`;
    const patch: Json =
      contentType === patchTypes[0] ? this.#operations() : this.#patchObject(resource, name, contentType);
    const isApply = contentType === patchTypes[3];
    const query = isApply
      ? this.#draws.pick(['?fieldManager=me', '?fieldManager=me&force=true', '?fieldManager=you&force=false', ''])
      : this.#writeQuery();
    const text = isApply && this.#draws.oneIn(2) ? this.#yaml(patch) : this.#damaged(JSON.stringify(patch));
    return this.#sent(
      `patch ${contentType.slice('application/'.length).replace(/-?patch.*/, '') || 'apply'}`,
      'PATCH',
      `${path}${query}`,
      { 'content-type': contentType },
      Buffer.from(text),
    );
  }

  #patchObject(resource: FuzzResource, name: string, contentType: string): JsonObject {
    const whole = this.#object(resource, name);
    if (contentType === patchTypes[3]) return this.#draws.oneIn(2) ? whole : this.#spoiled(whole);
    const part: JsonObject = this.#draws.oneIn(2)
      ? { metadata: { labels: { a: this.#draws.pick(['b', 'c']) } } }
      : this.#spoiled(whole);
    if (this.#draws.oneIn(4))
      part[this.#draws.pick(['$patch', '$retainKeys', '$setElementOrder/a', '$deleteFromPrimitiveList/finalizers'])] =
        this.#draws.pick<Json>(['replace', 'delete', 'x', [], ['a'], null, { a: 1 }]);
    return part;
  }

  #operations(): Json {
    const pointer = (): string =>
      this.#draws.pick([
        '',
        '/',
        '/metadata',
        '/metadata/labels',
        '/metadata/labels/a',
        '/metadata/annotations',
        '/metadata/finalizers/-',
        '/metadata/finalizers/0',
        '/metadata/managedFields',
        '/spec',
        '/spec/a',
        '/spec/any',
        '/spec/any/a',
        '/spec/containers/0',
        '/spec/containers/-',
        '/data',
        '/data/a',
        '/data/x',
        '/status',
        '/~1',
        '/~2',
        '/constructor',
        '/__proto__/a',
        `/spec/any${'/a'.repeat(this.#draws.below(300))}`,
        'x',
      ]);
    const operation = (): Json => {
      const op = this.#draws.pick(['add', 'replace', 'remove', 'copy', 'move', 'test', 'x']);
      return { op, path: pointer(), from: pointer(), value: this.#draws.oneIn(3) ? this.#hostileValue() : 'v' };
    };
    if (!this.#draws.oneIn(15)) return this.#draws.list(6, operation);
    const doubling = this.#draws.oneIn(2);
    const count = 50 + this.#draws.below(this.#draws.oneIn(4) ? 12_000 : 400);
    return Array.from({ length: count }, (_, index): Json =>
      doubling
        ? { op: 'copy', from: '/metadata', path: `/metadata/x${index}` }
        : { op: 'add', path: `/data/k${index}`, value: 'v' },
    );
  }

  #read(): WellFormed {
    const resource = this.#resource();
    const collection = this.#collection(resource);
    const one = this.#draws.oneIn(2);
    const path = one ? `${collection}/${encodeURIComponent(this.#name())}` : `${collection}${this.#listQuery()}`;
    return this.#sent(one ? 'get' : 'list', 'GET', path, { accept: this.#accept() }, undefined);
  }

  #listQuery(): string {
    const part = (): string =>
      this.#draws.pick([
        'limit=1',
        'limit=0',
        'limit=-1',
        'limit=99999999999999999999',
        'continue=WzEsMSwxXQ',
        'continue=%00',
        'resourceVersion=0',
        'resourceVersion=1',
        'resourceVersion=999999999999',
        'resourceVersionMatch=Exact',
        'resourceVersion=5&resourceVersionMatch=Exact',
        'limit=1&resourceVersion=0',
        `limit=2&continue=${encodeURIComponent(this.#continue())}`,
        `includeObject=${this.#draws.pick(['None', 'Metadata', 'Object', 'x', ''])}`,
        'dryRun=All',
        'timeoutSeconds=0',
        `fieldSelector=status.phase%3D${this.#draws.pick(['Failed', 'x'])}%2Cmetadata.namespace!%3Ddefault`,
        'fieldSelector=spec.text%3Daaa',
        'resourceVersionMatch=NotOlderThan',
        `labelSelector=${encodeURIComponent(this.#draws.pick(['a=b', 'a in (b,c)', '!a', 'a notin (', ...texts]).toWellFormed())}`,
        `fieldSelector=${encodeURIComponent(this.#draws.pick(['metadata.name=a', 'spec.nodeName=n1', 'constructor=1', ...texts]).toWellFormed())}`,
        `fieldSelector=${'a=b,'.repeat(this.#draws.below(2000))}`,
        `labelSelector=${'a,'.repeat(this.#draws.below(4000))}`,
      ]);
    const parts = this.#draws.list(3, part);
    return parts.length === 0 ? '' : `?${parts.join('&')}`;
  }

  /** Returns a token in the server's format, with arbitrary content. */
  #continue(): string {
    const parts = this.#draws.list(5, () => this.#draws.pick<Json>([...numbers, ...names, '', null, [], {}]));
    return Buffer.from(JSON.stringify(parts)).toString(this.#draws.pick(['base64', 'base64url', 'hex']));
  }

  #accept(): string {
    return this.#draws.pick([
      '*/*',
      'application/json',
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
      'application/vnd.kubernetes.protobuf',
      'application/json;as=Table;v=v9;g=meta.k8s.io',
      ';;;=,,',
      'a'.repeat(2_000),
    ]);
  }

  #watch(): WellFormed {
    const more = this.#draws.pick([
      '',
      '&timeoutSeconds=1',
      '&timeoutSeconds=999999999999999',
      '&allowWatchBookmarks=true',
      '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
      '&resourceVersion=1',
      '&resourceVersion=99999999',
      '&labelSelector=a%3Db',
      '&fieldSelector=metadata.name%3Da',
      '&fieldSelector=spec.nodeName%3Dn1&resourceVersion=0',
      '&resourceVersion=0&resourceVersionMatch=Exact',
      '&sendInitialEvents=true',
      '&limit=1&continue=x',
      '&includeObject=None',
      '&timeoutSeconds=-1',
      '&resourceVersion=x',
    ]);
    return this.#sent(
      'watch',
      'GET',
      `${this.#collection(this.#resource())}?watch=true${more}`,
      { accept: this.#accept() },
      undefined,
    );
  }

  #delete(): WellFormed {
    const resource = this.#resource();
    const collection = this.#collection(resource);
    const name = resource.kind === 'CustomResourceDefinition' ? 'things.example.test' : this.#name();
    const path = `${collection}/${encodeURIComponent(name)}`;
    const options: JsonObject = this.#draws.oneIn(2)
      ? {}
      : {
          gracePeriodSeconds: this.#draws.pick(numbers),
          propagationPolicy: this.#draws.pick(['Background', 'Orphan', 'Foreground', 'x']),
          preconditions: this.#draws.pick<Json>([{}, { uid: 'x' }, null, 1]),
        };
    const body = this.#draws.oneIn(3)
      ? undefined
      : Buffer.from(this.#damaged(JSON.stringify(this.#draws.oneIn(5) ? this.#spoiled(options) : options)));
    const query = this.#draws.oneIn(6)
      ? `?gracePeriodSeconds=${this.#draws.pick(['0', '-1', '1e15', '9e15', 'x', ''])}`
      : '';
    return this.#sent('delete', 'DELETE', `${path}${query}`, { 'content-type': 'application/json' }, body);
  }

  #subresource(): WellFormed {
    const pod = `/api/v1/namespaces/default/pods/${encodeURIComponent(this.#name())}`;
    const [path, object] = this.#draws.pick<readonly [string, JsonObject]>([
      [
        `${pod}/binding`,
        { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target: { kind: 'Node', name: this.#name() } },
      ],
      [
        `${pod}/eviction`,
        {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name: 'a' },
          deleteOptions: { gracePeriodSeconds: this.#draws.pick(numbers) },
        },
      ],
      [`${pod}/${this.#draws.pick(['log', 'exec', 'x', 'constructor', 'ephemeralcontainers'])}`, {}],
      [
        `/api/v1/namespaces/default/serviceaccounts/${this.#draws.pick(['default', 'a'])}/token`,
        {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { expirationSeconds: this.#draws.pick(numbers), audiences: ['a'] },
        },
      ],
    ]);
    const method = this.#draws.oneIn(6) ? this.#draws.pick(['GET', 'PUT', 'PATCH', 'DELETE']) : 'POST';
    return this.#write('subresource', method, path, object);
  }

  #review(): WellFormed {
    const [path, apiVersion, kind, spec] = this.#draws.pick(fuzzReviews);
    return this.#write('review', 'POST', path, { apiVersion, kind, spec });
  }

  #odd(): WellFormed {
    const path = this.#draws.pick([
      '/',
      '//',
      '/api',
      '/apis',
      '/api/v1',
      '/apis/example.test/v1',
      '/openapi/v2',
      '/openapi/v3',
      '/openapi/v3/api/v1',
      '/openapi/v3/apis/example.test/v1',
      '/openapi/v3/constructor',
      '/version',
      '/healthz',
      '/metrics',
      '/api/v1/constructor',
      '/apis/constructor/v1/pods',
      '/api/v1/namespaces/default/constructor/a',
      '/api/v1/namespaces/__proto__/pods',
      '/api/v1/namespaces//pods',
      '/api/v1/pods/a/b/c/d/e',
      '/%zz',
      '/api/v1/namespaces/default/pods/%00',
      `/${'a/'.repeat(3_000)}`,
      `/api/v1/pods?${'a=b&'.repeat(2_000)}`,
      '*',
      'http://elsewhere.test/api/v1/pods',
    ]);
    return this.#sent(
      'odd path',
      this.#draws.pick(['GET', 'GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND']),
      path,
      { accept: this.#accept() },
      undefined,
    );
  }

  #protobuf(): WellFormed {
    const magic = this.#draws.oneIn(10) ? Buffer.from('k8s') : Buffer.from('k8s\0');
    const field = (number: number, bytes: Buffer): Buffer =>
      Buffer.concat([Buffer.from([number * 8 + 2, ...varint(bytes.length)]), bytes]);
    const resource = this.#resource();
    const typeMeta = Buffer.concat([field(1, Buffer.from(resource.apiVersion)), field(2, Buffer.from(resource.kind))]);
    const fields = this.#draws.list(6, () =>
      field(
        1 + this.#draws.below(15),
        this.#draws.oneIn(2)
          ? this.#draws.bytes(this.#draws.below(30))
          : field(1, Buffer.from(this.#draws.pick(names))),
      ),
    );
    const raw = this.#draws.oneIn(3) ? this.#draws.bytes(this.#draws.below(200)) : Buffer.concat(fields);
    const body = Buffer.concat([
      magic,
      field(1, typeMeta),
      field(2, raw),
      ...(this.#draws.oneIn(5) ? [this.#draws.bytes(10)] : []),
    ]);
    return this.#sent(
      'protobuf',
      this.#draws.pick(['POST', 'PUT', 'DELETE']),
      this.#collection(resource),
      { 'content-type': 'application/vnd.kubernetes.protobuf' },
      body,
    );
  }

  #sent(
    kind: string,
    method: string,
    path: string,
    headers: Record<string, string>,
    body: Buffer | undefined,
  ): WellFormed {
    const more = this.#draws.oneIn(10) ? this.#oddHeaders() : {};
    return { form: 'request', kind, method, path, headers: { ...headers, ...more }, body };
  }

  #oddHeaders(): Record<string, string> {
    const text = this.#draws.pick([
      '',
      'x',
      '\u00ff\u00fe',
      ' a ',
      '\t',
      'a,'.repeat(500),
      'a'.repeat(4_000),
      '"',
      'constructor',
    ]);
    return this.#draws.pick<Record<string, string>>([
      { authorization: this.#draws.pick(['Bearer a.b.c', 'Bearer ', 'Basic YTpi', text]) },
      {
        'impersonate-user': this.#draws.pick(['system:serviceaccount:default:default', 'system:serviceaccount:', text]),
        'impersonate-group': text,
      },
      { 'user-agent': text },
      { 'content-type': this.#draws.pick(['text/plain', 'application/json; charset=utf-16', ';', text]) },
      { origin: 'https://elsewhere.test' },
      { host: this.#draws.pick(['elsewhere.test', 'localhost', '127.0.0.1', '[::1]:1', text || 'x']) },
      { 'sec-fetch-site': 'cross-site' },
      { expect: this.#draws.pick(['100-continue', 'x']) },
      { 'accept-encoding': 'gzip', accept: text },
      { ['x-'.concat('y'.repeat(200))]: text },
    ]);
  }

  /** Returns a copy with one to three hostile changes at random places. */
  #spoiled(object: JsonObject): JsonObject {
    const copy = structuredClone(object);
    for (let change = 0; change <= this.#draws.below(3); change++) this.#spoil(copy);
    return copy;
  }

  #spoil(root: JsonObject): void {
    let place: Json = root;
    for (;;) {
      if (typeof place !== 'object' || place === null) return;
      const keys = Object.keys(place);
      const key: string =
        keys.length === 0 || this.#draws.oneIn(6)
          ? this.#draws.pick([
              ...oddNames,
              'unknown',
              'labels',
              'annotations',
              'default',
              'pattern',
              'format',
              'enum',
              'not',
            ])
          : this.#draws.pick(keys);
      const child: Json | undefined = Object.hasOwn(place, key) ? (place as JsonObject)[key] : undefined;
      const goesOn = typeof child === 'object' && child !== null && !this.#draws.oneIn(4);
      if (!goesOn) {
        const value = this.#hostileValue();
        Object.defineProperty(place, key, { value, enumerable: true, configurable: true, writable: true });
        return;
      }
      place = child;
    }
  }

  #hostileValue(): Json {
    return this.#draws.weighted<() => Json>([
      [6, () => this.#draws.pick(numbers)],
      [6, () => this.#draws.pick(texts)],
      [4, () => this.#draws.pick<Json>([null, true, false, [], {}, [[]], [null], { '': null }])],
      [2, () => this.#nested(this.#draws.pick([3, 50, 119, 121, 300, 3_000]))],
      [1, () => this.#draws.pick(['a', '0', 'a1!', '1h', 'ä']).repeat(this.#draws.pick([10, 1_000, 100_000]))],
      [
        1,
        () =>
          Array.from({ length: this.#draws.pick([10, 1_000, 60_000]) }, (_, index) =>
            this.#draws.oneIn(2) ? index : { name: `n${index}` },
          ),
      ],
      [
        1,
        () =>
          Object.fromEntries(
            Array.from({ length: this.#draws.pick([10, 1_000, 60_000]) }, (_, index) => [
              `k${index}`,
              this.#draws.oneIn(2) ? 1 : '$',
            ]),
          ),
      ],
    ])();
  }

  #nested(depth: number): Json {
    let value: Json = this.#draws.pick<Json>([1, 'a', {}]);
    const inLists = this.#draws.oneIn(3);
    for (let level = 0; level < depth; level++) value = inLists ? [value] : { a: value };
    return value;
  }

  /** Returns the text, sometimes truncated, doubled, or with a few characters changed. */
  #damaged(text: string): string {
    if (!this.#draws.oneIn(12)) return text;
    const at = this.#draws.below(text.length + 1);
    return this.#draws.pick([
      text.slice(0, at),
      `${text.slice(0, at)}${this.#draws.pick(['{', '[', '"', '\\', '\u0000', ',', '\ufeff', '1e999'])}${text.slice(at)}`,
      text.replace('{', `{"kind":1,"kind":2,"a":{"b":1,"b":1},`),
      `${text}${text}`,
      '',
    ]);
  }

  /** Returns JSON, which is also YAML, or sometimes text that is only YAML. */
  #yaml(value: Json): string {
    if (!this.#draws.oneIn(3)) return JSON.stringify(value);
    return this.#draws.pick([
      'a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]',
      `a: ${'['.repeat(this.#draws.below(3_000))}`,
      '? '.repeat(this.#draws.below(3_000)),
      'a: &a [*a]',
      'a: .nan',
      'a: !!binary x',
      '--- a\n--- b',
      `{${'a: '.repeat(this.#draws.below(1_000))}}`,
      ' '.repeat(1_000),
      '\t',
      '%YAML 9.9\n---\na: 1',
      '<<: {a: 1}',
    ]);
  }

  #raw(): RawBytes {
    const line = this.#draws.pick([
      'GET / HTTP/1.1',
      'GET /api HTTP/9.9',
      'POST /api/v1/pods HTTP/1.1',
      'CONNECT elsewhere:443 HTTP/1.1',
      'PRI * HTTP/2.0',
      'GET http://[::1 HTTP/1.1',
      '\u0016\u0003\u0001',
      '',
    ]);
    const headers = this.#draws.list(5, () =>
      this.#draws.pick([
        'Host: 127.0.0.1',
        'Host: a\r\nHost: b',
        'Content-Length: 5',
        'Content-Length: -1',
        'Content-Length: 99999999999999999999',
        'Transfer-Encoding: chunked',
        'Transfer-Encoding: gzip',
        'Content-Length: 3\r\nTransfer-Encoding: chunked',
        'Upgrade: websocket\r\nConnection: Upgrade',
        'Expect: 100-continue',
        `X: ${'y'.repeat(this.#draws.below(20_000))}`,
        'no colon',
        ': empty',
        ' folded',
        'X: \u0000',
        'Content-Type: application/json',
      ]),
    );
    const body = this.#draws.pick([
      '',
      '5\r\nhello\r\n0\r\n\r\n',
      'ffffffffffffffff\r\n',
      'zz\r\n',
      '{}',
      '{"a":',
      '0\r\n\r\nGET / HTTP/1.1\r\n\r\n',
    ]);
    const end = this.#draws.pick(['\r\n', '\r\n', '\n', '\r']);
    const text = `${[line, ...headers].join(end)}${end}${end}${body}`;
    const bytes = this.#draws.oneIn(5) ? this.#draws.bytes(this.#draws.below(2_000)) : Buffer.from(text, 'latin1');
    return { form: 'bytes', kind: 'raw', bytes };
  }
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  while (left >= 0x80) {
    bytes.push((left & 0x7f) | 0x80);
    left >>>= 7;
  }
  return [...bytes, left];
}
