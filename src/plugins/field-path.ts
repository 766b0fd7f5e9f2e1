/**
 * The way to a field from the outermost value: names of fields and indexes of list elements. It is what `getIn` of a YAML
 * document takes, so that the line of a field can be found.
 */
export type FieldPath = readonly (string | number)[];

const plainName = /^[A-Za-z_][\w-]{0,62}$/;

/** As kube-scheduler writes it: `scoringStrategy.resources[0].weight`; a name with other characters is quoted: `labels["a b"]`. */
export function formatFieldPath(path: FieldPath): string {
  let text = '';
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else if (!plainName.test(segment)) text += `[${shortText(segment)}]`;
    else text += text === '' ? segment : `.${segment}`;
  }
  return text;
}

const longestShown = 60;

/** Quoted, and cut when it is long: what a user wrote may be anything. */
export function shortText(text: string): string {
  return JSON.stringify(text.length > longestShown ? `${text.slice(0, longestShown)}…` : text);
}
