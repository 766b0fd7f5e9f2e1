/** What is wrong with a text such as `0,2-5`, whose indexes must increase and be below `completions`; undefined when nothing is. */
export function indexesProblem(text: string, completions: number): string | undefined {
  if (text === '') return undefined;
  let last = -1;
  for (const part of text.split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (match === null) return `cannot convert string to integer for index: ${JSON.stringify(part)}`;
    const [first, end] = [Number(match[1]), Number(match[2] ?? match[1])];
    if (end >= completions) return `too large index: ${JSON.stringify(match[2] ?? match[1])}`;
    if (first <= last) return `non-increasing order, previous: ${last}, current: ${first}`;
    if (end < first) return `non-increasing order, previous: ${first}, current: ${end}`;
    last = end;
  }
  return undefined;
}
