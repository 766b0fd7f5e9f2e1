import type { Pod } from '../../api/pod.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { dynamicResourcesArguments } from './dynamic-resources-args.ts';

const name = 'DynamicResources';

/**
 * Tutti allocates no devices yet, and a node that is chosen without them may not have any: a pod with resource claims is turned away with
 * that as its reason, until it is made without them.
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

/** Arguments: kube-scheduler's DynamicResourcesArgs, which are checked and change nothing. */
export const createDynamicResources: PluginFactory = (args) => {
  dynamicResourcesArguments.read(args);
  return new DynamicResources();
};
