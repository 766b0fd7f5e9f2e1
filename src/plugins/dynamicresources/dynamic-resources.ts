import type { Pod } from '../../api/pod.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { dynamicResourcesArguments } from './dynamic-resources-args.ts';

const name = 'DynamicResources';

/**
 * Rejects pods with resource claims. Tutti does not allocate devices yet, and a node chosen without them may lack the devices. Only a new
 * pod without claims can be scheduled.
 */
class DynamicResources implements Plugin {
  readonly name = name;

  sign(pod: Pod): string {
    return pod.template.resourceClaims.join(' ');
  }

  preFilter(_state: CycleState, pod: Pod): Status | undefined {
    const { resourceClaims } = pod.template;
    if (resourceClaims.length === 0) return undefined;
    const reason = `resource claims are not supported: the pod has [${resourceClaims.join(' ')}]`;
    return new Status('UnschedulableAndUnresolvable', reason, name);
  }
}

/** Takes kube-scheduler's DynamicResourcesArgs, which are validated and otherwise ignored. */
export const createDynamicResources: PluginFactory = (args) => {
  dynamicResourcesArguments.read(args);
  return new DynamicResources();
};
