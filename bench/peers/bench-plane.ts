import { provideBinaries } from '../../test/planes/real/build.ts';
import type { ProcessUsage } from './process-usage.ts';
