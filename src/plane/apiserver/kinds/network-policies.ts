import { append } from '../append.ts';
import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { ensureObject, objectAt, objectsAt, textAt, textsAt } from './access.ts';
import { builtIn } from './built-in.ts';
import { ageColumn, nameColumn, textColumn } from './column.ts';
import { notSupported, required } from './field-rules.ts';
import type { ResourceType } from './resource-type.ts';
import { labelSelectorText } from './selector-text.ts';
import { validateSelector } from './validate-selector.ts';

const policyTypes = ['Egress', 'Ingress'];
const protocols = ['SCTP', 'TCP', 'UDP'];

/** Stored, and not acted on: simulated pods have no network. */
export const networkPolicies: ResourceType = builtIn({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  shortNames: ['netpol'],
  namespaced: true,
  model: 'V1NetworkPolicy',
  columns: [
    nameColumn,
    textColumn('Pod-Selector', (policy) => labelSelectorText(objectAt(objectAt(policy, 'spec'), 'podSelector'))),
    ageColumn,
  ],
  behaviour: {
    generation: 'spec',
    applyDefaults: (policy) => {
      const spec = ensureObject(policy, 'spec');
      ensureObject(spec, 'podSelector');
      for (const rule of rulesOf(spec)) for (const port of objectsAt(rule.value, 'ports')) port.protocol ??= 'TCP';
      if (textsAt(spec, 'policyTypes').length > 0) return;
      spec.policyTypes = spec.egress === undefined ? ['Ingress'] : ['Ingress', 'Egress'];
    },
    validate: validatePolicy,
  },
});

function rulesOf(spec: JsonObject | undefined): { value: JsonObject; path: string; peers: string }[] {
  const rules = (field: string, peers: string): { value: JsonObject; path: string; peers: string }[] =>
    objectsAt(spec, field).map((value, index) => ({ value, path: `spec.${field}[${index}]`, peers }));
  return [...rules('ingress', 'from'), ...rules('egress', 'to')];
}

function validatePolicy(policy: JsonObject): StatusCause[] {
  const spec = objectAt(policy, 'spec');
  const causes = validateSelector(objectAt(spec, 'podSelector'), 'spec.podSelector');
  for (const { value, path, peers } of rulesOf(spec)) {
    objectsAt(value, 'ports').forEach((port, index) => {
      const protocol = textAt(port, 'protocol');
      if (!protocols.includes(protocol))
        causes.push(notSupported(`${path}.ports[${index}].protocol`, protocol, protocols));
    });
    objectsAt(value, peers).forEach((peer, index) => {
      const place = `${path}.${peers}[${index}]`;
      if (Object.keys(peer).length === 0) causes.push(required(place, 'must specify a peer'));
      for (const field of ['podSelector', 'namespaceSelector']) {
        append(causes, validateSelector(objectAt(peer, field), `${place}.${field}`));
      }
    });
  }
  textsAt(spec, 'policyTypes').forEach((type, index) => {
    if (!policyTypes.includes(type)) causes.push(notSupported(`spec.policyTypes[${index}]`, type, policyTypes));
  });
  return causes;
}
