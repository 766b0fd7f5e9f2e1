/** Returns the element of the page with this id. Throws if there is none of this type. */
export function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`index.html has no ${type.name} with the id ${id}`);
  return found;
}

/** Creates an element. Strings among its children become text, never HTML. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function button(text: string, onClick: () => void): HTMLButtonElement {
  const made = element('button', { type: 'button' }, text);
  made.addEventListener('click', onClick);
  return made;
}

/** Sets the text, if it differs: screen readers and layout need not look again. */
export function setText(target: Node, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}
