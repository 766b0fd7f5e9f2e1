import type { Explanation } from '../api/explain/explanation.ts';
import type { TimelineEntity } from '../api/timeline/timeline-entity.ts';
import type { TimelineNode } from '../api/timeline/timeline-node.ts';
import { amount, countsText, kubectlCommand, nameByKey, scarcestText, stateText, transitionText } from './describe.ts';
import { button, element, setText } from './element.ts';
import { explanationView } from './explanation-view.ts';
import type { Lane } from './lane.ts';
import { clockTime } from './time-scale.ts';

/** What a request for an explanation gave. */
export type Asked =
  | { readonly kind: 'answer'; readonly explanation: Explanation }
  | { readonly kind: 'failure'; readonly message: string };

export interface PanelOptions {
  readonly root: HTMLElement;
  readonly ask: (entity: TimelineEntity) => Promise<Asked>;
  readonly copy: (text: string) => Promise<void>;
  readonly onOpenEntity: (key: string) => void;
  /** The panel was closed: the focus returns. */
  readonly onClose: () => void;
}

/** More would be slow, and is not read. */
const maxTransitions = 200;

/** The panel beside the lanes: an entity with its explanation and transitions, or a node and who uses it. */
export class Panel {
  readonly #options: PanelOptions;
  readonly #state = element('p');
  readonly #explanation = element('div');
  readonly #transitions = element('ol');
  readonly #notice = element('p', { role: 'status' });
  /** What it shows. */
  #key: string | undefined;
  #sequence = -1;
  #answer: Explanation | undefined;
  /** Answers to earlier questions are dropped. */
  #question = 0;

  constructor(options: PanelOptions) {
    this.#options = options;
    options.root.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') this.close();
    });
  }

  openEntity(lane: Lane): void {
    const { entity, name } = lane;
    this.#key = entity.key;
    this.#sequence = -1;
    this.#answer = undefined;
    this.#notice.textContent = '';
    this.#open(
      name,
      this.#state,
      element(
        'div',
        { class: 'actions' },
        button('Copy kubectl command', () => void this.#copy(kubectlCommand(entity.subject), 'The command is copied.')),
        button('Copy JSON', () => void this.#copyJson()),
        button('Ask again', () => void this.#ask(entity)),
        button('Close', () => this.close()),
      ),
      this.#notice,
      element('h3', {}, 'Why'),
      this.#explanation,
      element('h3', {}, 'What happened'),
      this.#transitions,
    );
    this.update(lane);
    void this.#ask(entity);
  }

  openNode(node: TimelineNode, entities: ReadonlyMap<string, TimelineEntity>): void {
    this.#key = undefined;
    const shares = node.shares.map(({ entity, used, reserved }) => {
      const percent = (share: number): string => `${Math.round(share * 100)} %`;
      const text = `${used > 0 ? ` uses ${percent(used)}` : ''}${reserved > 0 ? ` reserves ${percent(reserved)}` : ''}`;
      const who =
        entity === undefined ? 'others' : button(nameByKey(entities, entity), () => this.#options.onOpenEntity(entity));
      return element('li', {}, who, text);
    });
    const resources = Object.entries(node.resources).map(([name, { used, reserved, allocatable }]) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, name),
        ...[allocatable, used, reserved].map((value) => element('td', {}, amount(value))),
      ),
    );
    const headers = ['Resource', 'Allocatable', 'Used', 'Reserved'].map((text) =>
      element('th', { scope: 'col' }, text),
    );
    this.#open(
      node.name,
      element('p', {}, `${node.state}; ${scarcestText(node)}`),
      element(
        'div',
        { class: 'actions' },
        button('Close', () => this.close()),
      ),
      element('table', {}, element('thead', {}, element('tr', {}, ...headers)), element('tbody', {}, ...resources)),
      element('h3', {}, `Who uses ${node.scarcest ?? 'it'}`),
      element('ul', {}, ...shares),
    );
  }

  /** Key of the entity that it shows; undefined: none. */
  get entity(): string | undefined {
    return this.#key;
  }

  /** Shows what has changed of the entity. The explanation stays until the user asks again: an answer costs the scheduler work. */
  update({ entity, transitions }: Lane): void {
    const counts = countsText(entity);
    setText(this.#state, `${stateText(entity)}${counts === '' ? '' : `, ${counts} bound`}`);
    const last = transitions.at(-1);
    const version = last === undefined ? 0 : last.sequence + (last.count ?? 0) / 1e6;
    if (version === this.#sequence) return;
    this.#sequence = version;
    const shown = transitions.slice(-maxTransitions).reverse();
    const items = shown.map((transition) => {
      const { time, until } = transition;
      const [first, last] = [clockTime(time), clockTime(until ?? time)];
      const times = first === last ? first : `${first} – ${last}`;
      return element(
        'li',
        {},
        element('time', { datetime: new Date(time).toISOString() }, times),
        transitionText(transition),
      );
    });
    const earlier = transitions.length - shown.length;
    if (earlier > 0) items.push(element('li', {}, `and ${earlier} earlier`));
    if (items.length === 0) items.push(element('li', {}, 'Nothing since the record begins.'));
    this.#transitions.replaceChildren(...items);
  }

  close(): void {
    if (this.#options.root.hidden) return;
    this.#key = undefined;
    this.#options.root.hidden = true;
    this.#options.onClose();
  }

  #open(title: string, ...children: readonly HTMLElement[]): void {
    const { root } = this.#options;
    const heading = element('h2', { id: 'panel-title', tabindex: '-1' }, title);
    root.replaceChildren(heading, ...children);
    root.hidden = false;
    heading.focus({ preventScroll: true });
    // In a narrow window, it is below the lanes.
    root.scrollIntoView({ block: 'nearest' });
  }

  async #ask(entity: TimelineEntity): Promise<void> {
    const question = ++this.#question;
    this.#explanation.replaceChildren(element('p', {}, 'Asking the scheduler …'));
    const asked = await this.#options.ask(entity);
    if (question !== this.#question) return;
    if (asked.kind === 'answer') this.#answer = asked.explanation;
    this.#explanation.replaceChildren(
      ...(asked.kind === 'answer'
        ? explanationView(asked.explanation)
        : [element('p', {}, `No explanation: ${asked.message}`)]),
    );
  }

  async #copyJson(): Promise<void> {
    if (this.#answer === undefined) this.#notice.textContent = 'There is no explanation to copy yet.';
    else await this.#copy(JSON.stringify(this.#answer, undefined, 2), 'The explanation is copied.');
  }

  async #copy(text: string, done: string): Promise<void> {
    try {
      await this.#options.copy(text);
      this.#notice.textContent = done;
    } catch {
      this.#notice.textContent = `The browser does not allow it. Copy it here: ${text}`;
    }
  }
}
