import { nestedTooDeeply, nestingLimit, tooManyValues, valuesLimit } from '../complexity.ts';

/** Paths are long where fields are deep: what comes after so many is not told any more, and of each no more than so many characters. */
const toldLimit = 100;
const pathLimit = 1024;

/**
 * The paths of object fields that occur more than once in a JSON text that JSON.parse accepts (which silently keeps the
 * last). Each path is given once, in order of appearance, the first hundred of them. Throws ComplexityError.
 */
export function duplicateFields(text: string): string[] {
  const found = new Set<string>();
  /** The way to the value that is being read: `.key` and `[index]`. */
  const steps: string[] = [];
  let [position, values] = [0, 0];

  const skipSpace = (): void => {
    while (position < text.length && text.charCodeAt(position) <= 0x20) position++;
  };
  const readString = (): string => {
    const start = position++;
    while (text[position] !== '"') position += text[position] === '\\' ? 2 : 1;
    position++;
    const raw = text.slice(start, position);
    return raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1);
  };
  const tell = (): void => {
    if (found.size >= toldLimit) return;
    let path = '';
    for (const step of steps) if (path.length < pathLimit) path += step.slice(0, pathLimit);
    found.add(path.replace(/^\./, ''));
  };
  const readValue = (): void => {
    if (++values > valuesLimit) throw tooManyValues();
    skipSpace();
    const first = text[position];
    if (first === '{' || first === '[') {
      if (steps.length >= nestingLimit) throw nestedTooDeeply(nestingLimit);
      if (first === '{') readObject();
      else readArray();
    } else if (first === '"') readString();
    else while (position < text.length && !',]} \n\r\t'.includes(text[position]!)) position++;
    skipSpace();
  };
  const readObject = (): void => {
    const seen = new Set<string>();
    position++;
    skipSpace();
    while (text[position] !== '}') {
      skipSpace();
      const key = readString();
      steps.push(`.${key}`);
      if (seen.has(key)) tell();
      seen.add(key);
      skipSpace();
      position++; // the colon
      readValue();
      steps.pop();
      if (text[position] === ',') position++;
      skipSpace();
    }
    position++;
  };
  const readArray = (): void => {
    position++;
    skipSpace();
    for (let index = 0; text[position] !== ']'; index++) {
      steps.push(`[${index}]`);
      readValue();
      steps.pop();
      if (text[position] === ',') position++;
      skipSpace();
    }
    position++;
  };

  readValue();
  return [...found];
}
