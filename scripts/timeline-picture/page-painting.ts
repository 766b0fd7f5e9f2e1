import type { ClientTimeline } from '../../src/api/timeline/client-timeline.ts';
import type { TimelineState } from '../../src/api/timeline/timeline-state.ts';
import type { SvgContext } from './svg-context.ts';

/** A color scheme of the page. */
interface Theme {
  readonly background: string;
  readonly muted: string;
  readonly mark: string;
}

interface Layout {
  readonly nameWidth: number;
}

/** The page's own code that draws lanes. The types of its modules need the DOM, which scripts do not have. */
export interface PagePainting {
  readonly lanesOf: (timeline: ClientTimeline) => readonly { readonly name: string }[];
  readonly rowsLayout: (width: number, height: number, scrollTop: number) => Layout;
  readonly themes: { readonly light: Theme; readonly dark: Theme };
  readonly paintGangs: (context: SvgContext, painting: object) => void;
  readonly paintBar: (context: SvgContext, state: TimelineState, box: object, theme: Theme) => void;
}

export async function loadPagePainting(): Promise<PagePainting> {
  const load = (name: string): Promise<unknown> => import(new URL(`../../src/ui/${name}.ts`, import.meta.url).href);
  const modules = await Promise.all(['lane', 'rows', 'paint-gangs', 'bar'].map(load));
  const themes = await load('theme');
  return Object.assign({ themes }, ...(modules as object[])) as PagePainting;
}
