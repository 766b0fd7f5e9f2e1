import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/**
 * The slowest test files, slowest first. They start before all others, so that the end of a run does not wait for a single one. vitest only
 * knows the durations of earlier runs in this checkout.
 */
const longest: readonly string[] = [
  'test/image/image.test.ts',
  'test/real/end-to-end.test.ts',
  'test/chart/least-privilege.test.ts',
  'test/simulation/simulation.test.ts',
  'test/chart/installed.test.ts',
  'test/scenarios/real-plane.test.ts',
  'test/chart/rejections.test.ts',
  'test/scenarios/real-native-groups.test.ts',
  'test/metrics/runbooks-played.e2e.test.ts',
  'test/docs/administrators.e2e.test.ts',
  'test/embedded/conformance/real-plane.test.ts',
  'test/scenarios/real-jobs.test.ts',
  'test/docs/migration.e2e.test.ts',
  'src/cli/user-errors.e2e.test.ts',
  'test/examples/learn.test.ts',
  'test/embedded/kubectl/objects.test.ts',
  'test/real/chaos/chaos.test.ts',
];

/** Begins with `longest` and orders the rest as vitest does. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const rank = new Map(longest.map((file, index) => [join(root, file), index]));
    for (const file of rank.keys())
      if (!existsSync(file)) throw new Error(`test/lanes/longest-first.ts names ${file}, which does not exist`);
    const rankOf = ({ moduleId }: TestSpecification): number => rank.get(moduleId) ?? longest.length;
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b));
  }
}
