/**
 * How many indexes a text such as `0,2-5` names, of which each is below `completions`, in order and once; or what is wrong with it.
 */
export function totalOfIndexes(text: string, completions: number): number | string {
  if (text === '') return 0;
  let total = 0;
  let last = -1;
  for (const part of text.split(',')) {
    const limits = part.split('-');
    if (limits.length > 2)
      return `the fragment "${part}" violates the requirement that an index interval can have at most two parts separated by '-'`;
    const [first, end = first] = limits.map((limit) => (/^[+-]?\d+$/.test(limit) ? Number(limit) : undefined));
    if (first === undefined || end === undefined) {
      const wrong = limits.find((limit) => !/^[+-]?\d+$/.test(limit))!;
      return `cannot convert string to integer for index: ${JSON.stringify(wrong)}`;
    }
    if (first >= completions || end >= completions)
      return `too large index: ${JSON.stringify(limits[first >= completions ? 0 : 1])}`;
    if (limits.length > 1 && first >= end) return `non-increasing order, previous: ${first}, current: ${end}`;
    if (first <= last) return `non-increasing order, previous: ${last}, current: ${first}`;
    total += end - first + 1;
    last = end;
  }
  return total;
}
