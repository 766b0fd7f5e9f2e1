import type { JsonObject } from '../json.ts';
import { ensureObject, objectAt, objectsAt, textAt } from './access.ts';
import { builtIn } from './built-in.ts';
import { ageColumn, nameColumn, textColumn } from './column.ts';
import { statusSubresource } from './resource-type.ts';
import type { ResourceType } from './resource-type.ts';
import { labelsText } from './selector-text.ts';

/** Stored only: PodTopologySpread reads the selectors of Services. Services get no address, because pods have no network. */
export const services: ResourceType = builtIn({
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  model: 'V1Service',
  subresources: [statusSubresource({ group: '', version: 'v1', kind: 'Service' })],
  columns: [
    nameColumn,
    textColumn('Type', (service) => textAt(objectAt(service, 'spec'), 'type')),
    textColumn('Cluster-IP', (service) => textAt(objectAt(service, 'spec'), 'clusterIP') || '<none>'),
    textColumn('Port(s)', portsText),
    ageColumn,
    textColumn('Selector', (service) => labelsText(objectAt(objectAt(service, 'spec'), 'selector')), 'wide'),
  ],
  behaviour: { nameRule: 'label', returnsDeleted: true, applyDefaults: applyServiceDefaults },
});

function applyServiceDefaults(service: JsonObject): void {
  ensureObject(ensureObject(service, 'status'), 'loadBalancer');
  const spec = ensureObject(service, 'spec');
  spec.sessionAffinity ??= 'None';
  spec.type ??= 'ClusterIP';
  for (const port of objectsAt(spec, 'ports')) {
    port.protocol ??= 'TCP';
    port.targetPort ??= port.port ?? 0;
  }
}

function portsText(service: JsonObject): string {
  const ports = objectsAt(objectAt(service, 'spec'), 'ports');
  return ports.map((port) => `${Number(port.port)}/${textAt(port, 'protocol')}`).join(',') || '<none>';
}
