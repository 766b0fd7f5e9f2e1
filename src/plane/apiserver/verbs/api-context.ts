import type { Clock } from '../../../base/clock.ts';
import type { Random } from '../../../base/random.ts';
import type { BackgroundWork } from '../background-work.ts';
import type { OwnerIndex } from '../kinds/owner-index.ts';
import type { KindContext } from '../kinds/resource-type.ts';
import type { ResourceRegistry } from '../kinds/resource-registry.ts';
import type { WatchStreams } from './watch-streams.ts';

/** The server state and services that verbs use. */
export interface ApiContext extends KindContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly background: BackgroundWork;
  readonly registry: ResourceRegistry;
  readonly watches: WatchStreams;
  readonly owners: OwnerIndex;
}
