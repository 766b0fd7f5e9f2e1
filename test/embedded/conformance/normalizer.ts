import type { JsonObject, JsonValue } from '../../../src/plane/apiserver/json.ts';

const timeText = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;
const uidText = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
/** Ages in a Table: `0s`, `3m20s`. */
const ageText = /^\d+[smhdy](\d+[smhd])?$/;

/**
 * Removes from the responses of one case what differs between servers and runs without meaning:
 * - `managedFields` is left out;
 * - descriptions of columns and API documentation are left out, because each server has its own;
 * - the case's namespace becomes `<namespace>`, so that a case may use any;
 * - the service account of pods is left out, because an admission plugin sets it that test servers run without;
 * - the QoS class of pods is left out, because kubectl computes it where the server does not;
 * - the message of an Invalid response is left out where it only repeats the causes;
 * - the causes of an error are sorted, because servers list them in any order;
 * - an empty continue token counts as none;
 * - uids and resource versions of objects are numbered in order of appearance, which shows whether two are equal; those of lists and bookmarks
 *   are not numbered, because other writers change them;
 * - times keep only their precision; ages in tables, generated names, continue tokens and hashes keep only their place.
 */
export class Normalizer {
  readonly #namespace: string;
  /** uid -> its placeholder */
  readonly #uids = new Map<string, string>();
  /** resource version of an object -> its placeholder */
  readonly #versions = new Map<string, string>();
  /** generated name -> its placeholder */
  readonly #names = new Map<string, string>();

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  value(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((each) => this.value(each));
    if (value === null || typeof value !== 'object') return value;
    const normal: JsonObject = {};
    for (const [key, field] of Object.entries(value)) {
      if (leftOut.has(key)) continue;
      if (key === 'metadata' && isObject(field)) normal[key] = this.#metadata(field);
      else if (key === 'cells' && Array.isArray(field)) normal[key] = field.map((cell) => this.#cell(cell));
      else if (key === 'causes' && Array.isArray(field)) normal[key] = inOrder(this.value(field) as JsonValue[]);
      else if (isServiceAccount(key, field)) continue;
      else if (key === 'message' && repeatsCauses(value)) continue;
      else normal[this.text(key)] = this.value(field);
    }
    return sorted(normal);
  }

  text(text: string): string {
    let normal = text.replaceAll(this.#namespace, '<namespace>');
    normal = normal.replace(uidText, (uid) => numbered(this.#uids, uid, 'uid'));
    normal = normal.replace(timeText, (_, fraction?: string) =>
      fraction === undefined ? '<time>' : '<time with fraction>',
    );
    for (const [name, placeholder] of this.#names) normal = normal.replaceAll(name, placeholder);
    return normal
      .replace(/([?&](?:continue)=)[^&]+/g, '$1<token>')
      .replace(/((?:resourceVersion|hash)=)[^&0][^&]*/g, '$1<…>');
  }

  #metadata(metadata: JsonObject): JsonObject {
    const { name, generateName, resourceVersion, ...rest } = metadata;
    if (typeof name === 'string' && typeof generateName === 'string' && name.startsWith(generateName)) {
      this.#names.set(name, `${generateName}<${name.length - generateName.length} generated>`);
    }
    if (rest.continue === '') delete rest.continue;
    else if (rest.continue !== undefined) rest.continue = '<token>';
    // A list or a bookmark.
    const isUnnamed = name === undefined || name === '';
    return sorted({
      ...(this.value(rest) as JsonObject),
      ...(generateName !== undefined && { generateName }),
      ...(name !== undefined && { name: this.value(name) }),
      ...(resourceVersion !== undefined && {
        resourceVersion: isUnnamed ? '<version>' : numbered(this.#versions, resourceVersion as string, 'version'),
      }),
    });
  }

  #cell(cell: JsonValue): JsonValue {
    if (Array.isArray(cell)) return cell.map((each) => this.#cell(each));
    return typeof cell === 'string' && ageText.test(cell) ? '<age>' : this.value(cell);
  }
}

const leftOut: ReadonlySet<string> = new Set(['managedFields', 'description', 'storageVersionHash', 'qosClass']);

function inOrder(values: readonly JsonValue[]): JsonValue[] {
  return values.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function isServiceAccount(key: string, value: JsonValue): boolean {
  return (key === 'serviceAccountName' || key === 'serviceAccount') && value === 'default';
}

function repeatsCauses({ reason, details }: JsonObject): boolean {
  return reason === 'Invalid' && isObject(details) && Array.isArray(details.causes);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function numbered(known: Map<string, string>, value: string, what: string): string {
  const placeholder = known.get(value) ?? `<${what} ${known.size + 1}>`;
  known.set(value, placeholder);
  return placeholder;
}

function sorted(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
