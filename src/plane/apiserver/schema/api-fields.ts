import { apiFieldLines } from './api-field-lines.ts';

/** How the parts of a list, a map or an object are owned: as one, or each element by its value or its keys. */
export type Structure =
  { readonly type: 'atomic' } | { readonly type: 'set' } | { readonly type: 'map'; readonly keys: readonly string[] };

/** What Kubernetes' Go types say of one field of a built-in model. */
export interface ApiField {
  readonly name: string;
  /** Its number in protobuf. */
  readonly number: number;
  /** A pointer tells an absent value from a zero; other fields are sent always, and zero means absent. */
  readonly isPointer: boolean;
  /** Whether a server writes it even when it is empty. */
  readonly isAlwaysWritten: boolean;
  /** Whether the value, or each value of the list or map, is a quantity. */
  readonly isQuantity: boolean;
  /** Undefined: what is usual, which is a list as one, and an object or a map by its fields. */
  readonly structure: Structure | undefined;
  /** Strategic merge patch: the list is merged, by this key; empty for a list of scalars. Undefined: it is replaced. */
  readonly mergeKey: string | undefined;
  /** Strategic merge patch: whether an object in a patch replaces the one that is there rather than being merged with it. */
  readonly isReplaced: boolean;
  /** The value that stands for an absent one where the field is a key of a list. */
  readonly keyDefault: string | undefined;
}

/** A field number in protobuf -> the field, or the fields of a part that JSON has no name for. */
export type WireFields = ReadonlyMap<number, ApiField | WireFields>;

export interface ApiModel {
  /** Whether an object of this type is owned as one. */
  readonly isAtomic: boolean;
  /** JSON name -> field */
  readonly fields: ReadonlyMap<string, ApiField>;
  readonly wire: WireFields;
}

/** model name -> its line, until it is asked for; then what was read of it */
const models = new Map<string, string | ApiModel>(apiFieldLines.map((line) => [/^\w+/.exec(line)![0], line] as const));

/** What is known of a model of the client library beyond its own types; undefined for one that no served kind uses. */
export function apiModel(name: string): ApiModel | undefined {
  const found = models.get(name);
  if (typeof found !== 'string') return found;
  const [head = '', ...words] = found.split(' ');
  const fields = new Map<string, ApiField>();
  const model: ApiModel = { isAtomic: head.endsWith('{atomic}'), fields, wire: readFields(joinBraces(words), fields) };
  models.set(name, model);
  return model;
}

/** The words of a list's keys stand in braces, with spaces between them. */
function joinBraces(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const last = joined.at(-1);
    if (last !== undefined && last.lastIndexOf('{') > last.lastIndexOf('}'))
      joined[joined.length - 1] = `${last} ${word}`;
    else joined.push(word);
  }
  return joined;
}

/** Reads up to the closing bracket, and takes off `words` what it has read. */
function readFields(words: string[], fields: Map<string, ApiField>): WireFields {
  const wire = new Map<number, ApiField | WireFields>();
  for (let word = words.shift(); word !== undefined && word !== ')'; word = words.shift()) {
    if (word.startsWith('(')) {
      wire.set(Number(word.slice(1)), readFields(words, fields));
      continue;
    }
    const field = readField(word);
    fields.set(field.name, field);
    wire.set(field.number, field);
  }
  return wire;
}

function readField(word: string): ApiField {
  const parsed = /^([^:]+):(\d+)([*!q]*)(?:\{([^}]*)\})?(?:~(\w*)|(\^))?(?:=(\w*))?$/.exec(word);
  if (parsed === null) throw new Error(`${word} is not a field`);
  const [, name = '', number, flags = '', structure, mergeKey, replaced, keyDefault] = parsed;
  return {
    name,
    number: Number(number),
    isPointer: flags.includes('*'),
    isAlwaysWritten: flags.includes('!'),
    isQuantity: flags.includes('q'),
    structure: readStructure(structure),
    mergeKey,
    isReplaced: replaced !== undefined,
    keyDefault,
  };
}

function readStructure(text: string | undefined): Structure | undefined {
  const [type, ...keys] = (text ?? '').split(' ');
  if (type === 'map') return { type, keys };
  return type === 'atomic' || type === 'set' ? { type } : undefined;
}
