/**
 * Path from the outermost value to a field: field names and list indexes. `getIn` of a YAML document takes this form, which locates
 * the line of a field.
 */
export type FieldPath = readonly (string | number)[];

const plainName = /^[A-Za-z_][\w-]{0,62}$/;

/** Formats a path as kube-scheduler does: `scoringStrategy.resources[0].weight`. Quotes names with other characters: `labels["a b"]`. */
export function formatFieldPath(path: FieldPath): string {
  let text = '';
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else if (!plainName.test(segment)) text += `[${shortText(segment)}]`;
    else text += text === '' ? segment : `.${segment}`;
  }
  return text;
}

const maxShownLength = 60;

/** Quotes a text that a user wrote, and truncates it if it is long. */
export function shortText(text: string): string {
  return JSON.stringify(text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text);
}
