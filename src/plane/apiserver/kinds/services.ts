import { append } from '../append.ts';
import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { ensureObject, objectAt, objectsAt, textAt, textsAt } from './access.ts';
import { builtIn } from './built-in.ts';
import { ageColumn, nameColumn, textColumn } from './column.ts';
import { dnsLabelProblem, duplicateValue, invalidValue, notSupported, required } from './field-rules.ts';
import { statusSubresource } from './resource-type.ts';
import type { KindContext, ResourceType } from './resource-type.ts';
import { labelsText } from './selector-text.ts';
import { validateLabels } from './validate-metadata.ts';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const protocols = ['SCTP', 'TCP', 'UDP'];
/** Addresses 10.96.x.y are given out, as the usual clusters do. Nobody routes to them here. */
const serviceAddresses = 2 ** 16;

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
    textColumn('Cluster-IP', (service) => textsAt(objectAt(service, 'spec'), 'clusterIPs')[0] ?? '<none>'),
    textColumn('External-IP', externalAddress),
    textColumn('Port(s)', portsText),
    ageColumn,
    textColumn('Selector', (service) => labelsText(objectAt(objectAt(service, 'spec'), 'selector')), 'wide'),
  ],
  selectableFields: {
    'spec.clusterIP': (service) => textAt(objectAt(service, 'spec'), 'clusterIP'),
    'spec.type': (service) => textAt(objectAt(service, 'spec'), 'type'),
  },
  behaviour: {
    nameRule: 'label',
    returnsDeleted: true,
    statusKeepsMetadata: true,
    applyDefaults: applyServiceDefaults,
    admitCreate: giveAddress,
    prepareUpdate: keepAddress,
    validate: validateService,
    validateUpdate: validateServiceUpdate,
  },
});

function applyServiceDefaults(service: JsonObject): void {
  ensureObject(ensureObject(service, 'status'), 'loadBalancer');
  const spec = ensureObject(service, 'spec');
  spec.sessionAffinity ??= 'None';
  spec.type ??= 'ClusterIP';
  for (const port of objectsAt(spec, 'ports')) {
    port.protocol ??= 'TCP';
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '')
      port.targetPort = port.port ?? 0;
  }
  if (spec.type === 'ExternalName') return;
  spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'NodePort' || spec.type === 'LoadBalancer') spec.externalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
}

function giveAddress(service: JsonObject, context: KindContext): void {
  const spec = ensureObject(service, 'spec');
  if (spec.type === 'ExternalName') return;
  const taken = new Set(
    context.store
      .collection(services.storage)
      .list()
      .map(({ object }) => textAt(objectAt(object, 'spec'), 'clusterIP')),
  );
  if (textAt(spec, 'clusterIP') === '') {
    // 10.96.0.1 is the API server's own, everywhere.
    for (let index = 2; index < serviceAddresses && textAt(spec, 'clusterIP') === ''; index++) {
      const address = `10.96.${index >> 8}.${index & 255}`;
      if (!taken.has(address)) spec.clusterIP = address;
    }
  }
  spec.clusterIPs = [spec.clusterIP!];
  spec.ipFamilies ??= ['IPv4'];
  spec.ipFamilyPolicy ??= 'SingleStack';
  giveNodePorts(spec, context);
}

function giveNodePorts(spec: JsonObject, context: KindContext): void {
  if (spec.type !== 'NodePort' && spec.type !== 'LoadBalancer') return;
  const taken = new Set<unknown>(
    context.store
      .collection(services.storage)
      .list()
      .flatMap(({ object }) => objectsAt(objectAt(object, 'spec'), 'ports').map((port) => port.nodePort)),
  );
  for (const port of objectsAt(spec, 'ports')) {
    for (let number = 30_000; number <= 32_767 && !port.nodePort; number++) {
      if (!taken.has(number)) port.nodePort = number;
    }
    taken.add(port.nodePort);
  }
}

/** A manifest does not say what the server has given. */
function keepAddress(service: JsonObject, previous: JsonObject): void {
  const spec = ensureObject(service, 'spec');
  const old = objectAt(previous, 'spec') ?? {};
  if (spec.type === 'ExternalName' || old.type === 'ExternalName') return;
  for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
    if (old[field] !== undefined) spec[field] ??= old[field];
  }
  if (spec.type === 'ClusterIP') return;
  for (const port of objectsAt(spec, 'ports')) {
    const same = objectsAt(old, 'ports').find((each) => each.port === port.port && each.protocol === port.protocol);
    if (same?.nodePort !== undefined) port.nodePort ??= same.nodePort;
  }
}

function validateService(service: JsonObject): StatusCause[] {
  const spec = objectAt(service, 'spec') ?? {};
  const causes: StatusCause[] = [];
  const type = textAt(spec, 'type');
  if (!types.includes(type)) causes.push(notSupported('spec.type', type, types));
  if (!['ClientIP', 'None'].includes(textAt(spec, 'sessionAffinity'))) {
    causes.push(notSupported('spec.sessionAffinity', spec.sessionAffinity!, ['ClientIP', 'None']));
  }
  const ports = objectsAt(spec, 'ports');
  const headless = textAt(spec, 'clusterIP') === 'None';
  if (ports.length === 0 && !headless && type !== 'ExternalName') causes.push(required('spec.ports'));
  if (type === 'ExternalName' && textAt(spec, 'externalName') === '') causes.push(required('spec.externalName'));
  const names = new Set<string>();
  const numbers = new Set<string>();
  ports.forEach((port, index) => {
    const path = `spec.ports[${index}]`;
    const name = textAt(port, 'name');
    const problem = name === '' ? undefined : dnsLabelProblem(name);
    if (name === '' && ports.length > 1) causes.push(required(`${path}.name`));
    if (problem !== undefined) causes.push(invalidValue(`${path}.name`, name, problem));
    if (name !== '' && names.has(name)) causes.push(duplicateValue(`${path}.name`, name));
    names.add(name);
    append(causes, validatePortNumber(port.port ?? 0, `${path}.port`));
    if (typeof port.targetPort === 'number') append(causes, validatePortNumber(port.targetPort, `${path}.targetPort`));
    const protocol = textAt(port, 'protocol');
    if (!protocols.includes(protocol)) causes.push(notSupported(`${path}.protocol`, protocol, protocols));
    const identity = `${Number(port.port)}/${protocol}`;
    if (numbers.has(identity)) causes.push(duplicateValue(path, { port: port.port ?? 0, protocol }));
    numbers.add(identity);
  });
  append(causes, validateLabels(spec.selector, 'spec.selector'));
  return causes;
}

function validatePortNumber(port: JsonObject[string], field: string): StatusCause[] {
  const right = typeof port === 'number' && port >= 1 && port <= 65_535;
  return right ? [] : [invalidValue(field, port, 'must be between 1 and 65535, inclusive')];
}

function validateServiceUpdate(service: JsonObject, previous: JsonObject): StatusCause[] {
  const before = textAt(objectAt(previous, 'spec'), 'clusterIP');
  const now = textAt(objectAt(service, 'spec'), 'clusterIP');
  if (before === '' || before === now || textAt(objectAt(service, 'spec'), 'type') === 'ExternalName') return [];
  return [invalidValue('spec.clusterIPs[0]', now, 'may not change once set')];
}

function externalAddress(service: JsonObject): string {
  const spec = objectAt(service, 'spec');
  const given = textsAt(spec, 'externalIPs').join(',');
  switch (textAt(spec, 'type')) {
    case 'LoadBalancer': {
      const ingress = objectsAt(objectAt(objectAt(service, 'status'), 'loadBalancer'), 'ingress');
      const addresses = [...ingress.map((each) => textAt(each, 'ip') || textAt(each, 'hostname')), given];
      return addresses.filter((each) => each !== '').join(',') || '<pending>';
    }
    case 'ExternalName':
      return textAt(spec, 'externalName');
    default:
      return given || '<none>';
  }
}

function portsText(service: JsonObject): string {
  const ports = objectsAt(objectAt(service, 'spec'), 'ports').map((port) => {
    const node = port.nodePort === undefined ? '' : `:${Number(port.nodePort)}`;
    return `${Number(port.port)}${node}/${textAt(port, 'protocol')}`;
  });
  return ports.join(',') || '<none>';
}
