import { NotFoundError } from '../../src/client/api-errors.ts';
import { historyProblems } from '../expect/history-problems.ts';
import type { NodeSpec } from '../planes/real/add-nodes.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { Stage } from '../scenarios/stage.ts';
import { Installation } from './installation.ts';

/** The environment of a scenario. */
export interface Setting {
  readonly plane: RealPlane;
  readonly stage: Stage;
  readonly tutti: Installation;
  /** Adds ready nodes with these names; they are removed after the scenario. */
  readonly addNodes: (...specs: readonly NodeSpec[]) => Promise<void>;
  /** Creates an object in a collection; it is removed after the scenario, together with its dependents. */
  readonly create: (path: string, object: { readonly metadata: { readonly name: string } }) => Promise<void>;
}

export interface OnStageOptions {
  /** Leaves the objects behind, because nothing else runs on the plane. */
  readonly isLast?: boolean;
  /** Pattern of problems that the scenario expects. */
  readonly tolerates?: RegExp;
}

/**
 * Runs `act` with Tutti's processes on a part of the plane. Then asserts on the whole history that no group was partially bound for too
 * long, no node was over-committed, and no process has failed.
 */
export async function onStage(
  plane: RealPlane,
  act: (setting: Setting) => Promise<void>,
  { isLast = false, tolerates }: OnStageOptions = {},
): Promise<void> {
  const stage = await Stage.open(plane);
  const tutti = new Installation(plane);
  const created: string[] = [];
  const nodes: string[] = [];
  const setting: Setting = {
    plane,
    stage,
    tutti,
    async addNodes(...specs) {
      nodes.push(...specs.map(({ name }) => name));
      await plane.addNodes(specs);
    },
    async create(path, object) {
      await plane.client.create(path, object);
      created.push(`${path}/${object.metadata.name}`);
    },
  };
  const clear = async (): Promise<void> => {
    if (isLast) return stage.record.close();
    for (const path of created) await plane.client.delete(path, { propagationPolicy: 'Background' });
    await stage.close();
    for (const name of nodes) await deleteIfThere(plane, `/api/v1/nodes/${name}`);
  };
  try {
    await act(setting);
    const rules = { namespaces: new Set([stage.namespace]), partialForMs: stage.partialForMs };
    const shown = historyProblems(stage.record, rules).filter((problem) => tolerates?.test(problem) !== true);
    const problems = [...shown, ...(await tutti.stop())];
    if (problems.length > 0) throw new Error(problems.join('\n'));
  } catch (error) {
    // Report the first error, not one of cleaning up.
    await tutti.stop().catch(() => undefined);
    await clear().catch(() => undefined);
    throw error;
  }
  await clear();
}

async function deleteIfThere({ client }: RealPlane, path: string): Promise<void> {
  await client.delete(path).catch((error: unknown) => {
    if (!(error instanceof NotFoundError)) throw error;
  });
}
