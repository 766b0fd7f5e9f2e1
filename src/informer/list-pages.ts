import { MalformedAnswerError } from '../client/api-errors.ts';
import type { KubeClient, ListOptions, ListPage } from '../client/kube-client.ts';

/** Maximum pages of a list: far more than the largest cluster has. The continue tokens would expire before the last page. */
const maxPages = 10_000;

/**
 * Reads a collection page by page until `take` returns false; `page` counts from 1. Other tasks run while it waits for a page. It keeps no
 * page while it reads the next one. Returns the resourceVersion of the last page. Rejects with MalformedAnswerError if the pages never end.
 */
export async function listPages(
  client: Pick<KubeClient, 'list'>,
  path: string,
  options: Omit<ListOptions, 'continueToken'>,
  take: (items: ListPage['items'], page: number) => boolean,
): Promise<string> {
  const deliver = (
    { items, ...rest }: ListPage,
    page: number,
  ): Omit<ListPage, 'items'> & { readonly hasNext: boolean } => ({
    ...rest,
    hasNext: take(items, page) && rest.continueToken !== undefined,
  });
  let continueToken: string | undefined;
  for (let page = 1; ; page++) {
    const { resourceVersion, hasNext, ...next } = deliver(
      await client.list(path, { ...options, ...(continueToken !== undefined && { continueToken }) }),
      page,
    );
    if (!hasNext) return resourceVersion;
    if (next.continueToken === continueToken || page >= maxPages) {
      const what = page >= maxPages ? `has more than ${maxPages} pages` : `repeats the continue token of page ${page}`;
      throw new MalformedAnswerError(`the list of ${path} has no end: it ${what}`);
    }
    continueToken = next.continueToken;
  }
}
