import type { Explanation } from '../api/explain/explanation.ts';
import type { TimelineEntity } from '../api/timeline/timeline-entity.ts';
import type { TimelineNode } from '../api/timeline/timeline-node.ts';
import { DataTable } from './data-table.ts';
import { countsText, freeShare, nameByKey, scarcestText, stateText, transitionText, whyText } from './describe.ts';
import { byId, setText } from './element.ts';
import { lanesOf, matches } from './lane.ts';
import type { Lane } from './lane.ts';
import { showLegend } from './legend.ts';
import { nodesOf } from './node-list.ts';
import { paintGangs } from './paint-gangs.ts';
import { paintNodes } from './paint-nodes.ts';
import { Panel } from './panel.ts';
import type { Asked } from './panel.ts';
import { RowsView } from './rows-view.ts';
import type { RowsContent } from './rows-view.ts';
import type { RowsLayout } from './rows.ts';
import { PageHeader } from './page-header.ts';
import { dark, light } from './theme.ts';
import type { Theme } from './theme.ts';
import { clockTime, timeAt, zoomed } from './time-scale.ts';
import type { TimeScale } from './time-scale.ts';
import { schedulerTime } from '../api/timeline/timeline-client.ts';
import type { Received } from '../api/timeline/timeline-client.ts';

/** Part of the span that is shown to the right of now. */
const margin = 0.03;

/** The page: what it shows of a timeline, and what the user has chosen. */
export class Page {
  readonly #lanesElement = byId('lanes', HTMLElement);
  readonly #filter = byId('filter', HTMLInputElement);
  readonly #darkScheme = matchMedia('(prefers-color-scheme: dark)');
  readonly #header = new PageHeader();
  readonly #rows: RowsView;
  readonly #panel: Panel;
  readonly #gangTable: DataTable<Lane>;
  readonly #nodeTable: DataTable<TimelineNode>;
  #received: Received;
  /** Set while the page is paused: what it shows, and at which time of the scheduler. */
  #paused: { readonly received: Received; readonly now: number } | undefined;
  #view: 'gangs' | 'nodes' = 'gangs';
  #isTable = false;
  #span = 600_000;
  /** The right edge; undefined: it follows the time. */
  #end: number | undefined;
  /** Those of the timeline, in order, before they are filtered. */
  #lanes: readonly Lane[] = [];
  #lanesFrom: Received['timeline'] | undefined;

  constructor(received: Received) {
    this.#received = received;
    this.#panel = new Panel({
      root: byId('panel', HTMLElement),
      ask: askWhy,
      copy: (text) => navigator.clipboard.writeText(text),
      onOpenEntity: (key) => this.#open(key),
      onClose: () => (this.#isTable ? byId('tables', HTMLElement) : this.#lanesElement).focus(),
    });
    this.#rows = new RowsView({
      scroller: this.#lanesElement,
      rows: byId('rows', HTMLElement),
      canvas: byId('canvas', HTMLCanvasElement),
      tooltip: byId('tooltip', HTMLElement),
      onWhy: (why = 'Select a lane with the arrow keys, or point at it.') => setText(byId('why', HTMLElement), why),
      onOpen: (key) => this.#open(key),
    });
    const onOpen = (key: string): void => this.#open(key);
    this.#gangTable = new DataTable<Lane>({
      caption: 'Pod groups and pods',
      columns: [
        { header: 'Name', text: ({ name }) => name },
        { header: 'State', text: ({ entity }) => stateText(entity) },
        { header: 'Bound', text: ({ entity }) => countsText(entity) },
        { header: 'Since', text: (lane) => sinceText(lane) },
        {
          header: 'Last',
          text: ({ transitions }) => (transitions.length === 0 ? '' : transitionText(transitions.at(-1)!)),
        },
        { header: 'Reason', text: ({ entity }) => entity.reason ?? '' },
      ],
      keyOf: ({ entity }) => entity.key,
      classOf: ({ entity }) => (entity.state === 'Partial' ? 'partial' : ''),
      onOpen,
    });
    this.#nodeTable = new DataTable<TimelineNode>({
      caption: 'Nodes',
      columns: [
        { header: 'Name', text: ({ name }) => name },
        { header: 'State', text: ({ state }) => state },
        { header: 'Scarcest resource', text: scarcestText },
        { header: 'Free', text: (node) => `${Math.round(freeShare(node) * 100)} %` },
        { header: 'Used by', text: ({ shares }) => this.#owners(shares.filter(({ used }) => used > 0)) },
        { header: 'Reserved for', text: ({ shares }) => this.#owners(shares.filter(({ reserved }) => reserved > 0)) },
      ],
      keyOf: ({ name }) => name,
      classOf: () => '',
      onOpen,
    });
    this.#listen();
    this.#showChoices();
    setInterval(() => {
      if (!document.hidden) this.#render();
    }, 1_000);
  }

  /** Takes what has changed. */
  show(received: Received): void {
    this.#received = received;
    this.#render();
  }

  #listen(): void {
    byId('show-gangs', HTMLElement).onclick = () => this.#choose(() => (this.#view = 'gangs'));
    byId('show-nodes', HTMLElement).onclick = () => this.#choose(() => (this.#view = 'nodes'));
    byId('show-table', HTMLElement).onclick = () => this.#choose(() => (this.#isTable = !this.#isTable));
    byId('pause', HTMLElement).onclick = () => this.#choose(() => this.#pause());
    byId('show-keys', HTMLElement).onclick = () => byId('keys', HTMLDialogElement).showModal();
    byId('skip', HTMLElement).onclick = (event) => {
      event.preventDefault();
      this.#choose(() => (this.#isTable = true));
      byId('tables', HTMLElement).focus();
    };
    for (const each of this.#spanButtons())
      each.onclick = () =>
        this.#choose(() => {
          this.#span = Number(each.dataset.minutes) * 60_000;
          this.#end = undefined;
        });
    this.#filter.oninput = () => this.#render();
    this.#darkScheme.onchange = () => this.#choose(() => undefined);
    this.#lanesElement.addEventListener('keydown', (event) => this.#onKey(event));
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || event.target === this.#filter) return;
      event.preventDefault();
      this.#filter.focus();
    });
  }

  #onKey(event: KeyboardEvent): void {
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => this.#pan(-0.1),
      ArrowRight: () => this.#pan(0.1),
      '0': () => (this.#end = undefined),
      '+': () => (this.#span = zoomed(this.#span, 0.5)),
      '-': () => (this.#span = zoomed(this.#span, 2)),
      ' ': () => this.#pause(),
      Escape: () => this.#panel.close(),
    };
    if (Object.hasOwn(actions, key)) this.#choose(actions[key]!);
    else if (key === '=') this.#choose(actions['+']!);
    else if (!this.#rows.onKey(key)) return;
    event.preventDefault();
  }

  #choose(change: () => void): void {
    change();
    this.#showChoices();
    this.#render();
  }

  #pause(): void {
    this.#paused = this.#paused === undefined ? { received: this.#received, now: this.#now() } : undefined;
  }

  /** Moves the visible time by a part of the span. It follows the time again when it reaches it. */
  #pan(share: number): void {
    const latest = this.#now() + this.#span * margin;
    const end = (this.#end ?? latest) + share * this.#span;
    this.#end = end >= latest ? undefined : end;
  }

  #showChoices(): void {
    const press = (id: string, isPressed: boolean): void =>
      byId(id, HTMLElement).setAttribute('aria-pressed', String(isPressed));
    press('show-gangs', this.#view === 'gangs');
    press('show-nodes', this.#view === 'nodes');
    press('show-table', this.#isTable);
    press('pause', this.#paused !== undefined);
    for (const each of this.#spanButtons())
      each.setAttribute('aria-pressed', String(Number(each.dataset.minutes) * 60_000 === this.#span));
    this.#lanesElement.setAttribute(
      'aria-label',
      this.#view === 'gangs' ? 'Timeline of pod groups' : 'Use of the nodes',
    );
    this.#lanesElement.hidden = this.#isTable;
    const tables = byId('tables', HTMLElement);
    tables.hidden = !this.#isTable;
    tables.replaceChildren(this.#view === 'gangs' ? this.#gangTable.root : this.#nodeTable.root);
    byId('spans', HTMLElement).hidden = this.#isTable || this.#view === 'nodes';
    const legend = byId('legend', HTMLElement);
    legend.hidden = this.#isTable;
    byId('why', HTMLElement).hidden = this.#isTable;
    showLegend(legend, this.#view, this.#theme());
  }

  #spanButtons(): readonly HTMLElement[] {
    return [...byId('spans', HTMLElement).querySelectorAll<HTMLElement>('button')];
  }

  #render(): void {
    const shown = this.#paused?.received ?? this.#received;
    this.#header.show(this.#received, schedulerTime(this.#received, performance.now()), this.#paused?.now);
    const { timeline } = shown;
    if (timeline !== this.#lanesFrom) {
      this.#lanesFrom = timeline;
      this.#lanes = lanesOf(timeline);
    }
    const isEmpty = this.#view === 'gangs' ? this.#showGangs(shown) : this.#showNodes(shown);
    const empty = byId('empty', HTMLElement);
    empty.hidden = timeline.status === 'empty' || !isEmpty;
    const none = `There are no ${this.#view === 'gangs' ? 'pod groups' : 'nodes'} yet.`;
    setText(empty, this.#filter.value === '' ? none : 'Nothing matches the filter.');
    const open = this.#lanes.find(({ entity }) => entity.key === this.#panel.entity);
    if (open !== undefined) this.#panel.update(open);
  }

  /** Returns whether there is nothing to show. */
  #showGangs(shown: Received): boolean {
    const lanes = this.#lanes.filter((lane) => matches(lane, this.#filter.value));
    if (this.#isTable) this.#gangTable.show(lanes);
    else this.#rows.show(this.#gangs(lanes, shown));
    return lanes.length === 0;
  }

  /** Returns whether there is nothing to show. */
  #showNodes(shown: Received): boolean {
    const nodes = nodesOf(shown.timeline.nodes, this.#filter.value);
    if (this.#isTable) this.#nodeTable.show(nodes);
    else this.#rows.show(this.#nodes(nodes, shown));
    return nodes.length === 0;
  }

  #gangs(lanes: readonly Lane[], { timeline }: Received): RowsContent {
    const byKey = new Map(lanes.map((lane) => [lane.entity.key, lane]));
    const { heldSince } = timeline;
    return {
      keys: [...byKey.keys()],
      paint: (context, layout, selected) =>
        paintGangs(context, {
          lanes,
          layout,
          scale: this.#scale(layout),
          heldSince,
          now: this.#now(),
          selected,
          theme: this.#theme(),
        }),
      why: (key, layout, x) => {
        const time =
          x === undefined || x < layout.nameWidth ? undefined : timeAt(this.#scale(layout), x - layout.nameWidth);
        const now = this.#now();
        return whyText(byKey.get(key)!, heldSince, now, time === undefined || time > now ? undefined : time);
      },
    };
  }

  #nodes(nodes: readonly TimelineNode[], { timeline: { entities } }: Received): RowsContent {
    const byName = new Map(nodes.map((node) => [node.name, node]));
    return {
      keys: [...byName.keys()],
      paint: (context, layout, selected) =>
        paintNodes(context, { nodes, entities, layout, selected, theme: this.#theme() }),
      why: (name) => {
        const node = byName.get(name)!;
        return `${name}: ${node.state}; ${scarcestText(node)}; used by ${this.#owners(node.shares) || 'nothing'}`;
      },
    };
  }

  /** Opens the panel of a row: an entity in the gangs view and for links, else a node. */
  #open(key: string): void {
    const { timeline } = this.#paused?.received ?? this.#received;
    const lane = this.#lanes.find(({ entity }) => entity.key === key);
    const node = timeline.nodes.get(key);
    if (lane !== undefined) this.#panel.openEntity(lane);
    else if (node !== undefined) this.#panel.openNode(node, timeline.entities);
  }

  #owners(shares: TimelineNode['shares']): string {
    const { entities } = (this.#paused?.received ?? this.#received).timeline;
    return shares.map(({ entity }) => (entity === undefined ? 'others' : nameByKey(entities, entity))).join(', ');
  }

  #now(): number {
    return this.#paused?.now ?? schedulerTime(this.#received, performance.now());
  }

  #scale({ width, nameWidth }: RowsLayout): TimeScale {
    return { end: this.#end ?? this.#now() + this.#span * margin, span: this.#span, width: width - nameWidth };
  }

  #theme(): Theme {
    return this.#darkScheme.matches ? dark : light;
  }
}

function sinceText({ transitions }: Lane): string {
  const last = transitions.at(-1);
  if (last === undefined) return '';
  const first = transitions.findLastIndex(({ state }) => state !== last.state);
  return clockTime(transitions[first + 1]!.time);
}

async function askWhy({ subject: { kind, source, namespace, name } }: TimelineEntity): Promise<Asked> {
  const query = new URLSearchParams({ namespace, name, kind, ...(source !== undefined && { source }) });
  try {
    const response = await fetch(`debug/explain?${query.toString()}`, { cache: 'no-store' });
    if (!response.ok) return { kind: 'failure', message: (await response.text()).trim() };
    return { kind: 'answer', explanation: (await response.json()) as Explanation };
  } catch {
    return { kind: 'failure', message: 'the server does not answer' };
  }
}
