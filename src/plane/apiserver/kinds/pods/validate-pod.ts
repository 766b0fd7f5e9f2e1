import { append } from '../../append.ts';
import { compareQuantities, parseQuantity } from '../../../../api/quantity.ts';
import type { StatusCause } from '../../http/api-error.ts';
import type { JsonObject } from '../../json.ts';
import { objectAt, objectsAt, ownValue, textAt } from '../access.ts';
import {
  dnsLabelProblem,
  dnsSubdomainProblem,
  duplicateValue,
  fieldForbidden,
  invalidValue,
  notSupported,
  portNameProblems,
  qualifiedNameProblem,
  required,
} from '../field-rules.ts';
import { validateQuantities } from '../quantity-fields.ts';
import { validateLabels } from '../validate-metadata.ts';

const nativeResource = /^(cpu|memory|ephemeral-storage|storage|hugepages-.+)$/;

/** Checks a pod's content as far as scheduling and running it depend on it. Defaults are filled in by now. */
export function validatePod(pod: JsonObject): StatusCause[] {
  const spec = objectAt(pod, 'spec');
  const causes: StatusCause[] = [];
  if (objectsAt(spec, 'containers').length === 0) causes.push(required('spec.containers'));
  const names = new Set<string>();
  for (const field of ['initContainers', 'containers']) {
    objectsAt(spec, field).forEach((container, index) => {
      append(causes, validateContainer(container, `spec.${field}[${index}]`, names));
    });
  }
  causes.push(
    ...oneOf(spec, 'restartPolicy', ['Always', 'OnFailure', 'Never']),
    ...oneOf(spec, 'dnsPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']),
    ...validateLabels(spec?.nodeSelector, 'spec.nodeSelector'),
    ...validateQuantities(spec, 'overhead', 'spec'),
    ...validateResources(objectAt(spec, 'resources'), 'spec.resources'),
    ...validateGates(spec),
    ...validateTolerations(spec),
  );
  for (const field of ['nodeName', 'schedulerName', 'serviceAccountName', 'priorityClassName']) {
    const value = textAt(spec, field);
    const problem = value === '' ? undefined : dnsSubdomainProblem(value);
    if (problem !== undefined) causes.push(invalidValue(`spec.${field}`, value, problem));
  }
  const deadline = spec?.activeDeadlineSeconds;
  if (typeof deadline === 'number' && deadline < 1) {
    causes.push(invalidValue('spec.activeDeadlineSeconds', deadline, 'must be between 1 and 2147483647, inclusive'));
  }
  return causes;
}

function oneOf(owner: JsonObject | undefined, field: string, supported: readonly string[]): StatusCause[] {
  const value = textAt(owner, field);
  return supported.includes(value) ? [] : [notSupported(`spec.${field}`, value, supported)];
}

function validateContainer(container: JsonObject, path: string, names: Set<string>): StatusCause[] {
  const causes: StatusCause[] = [];
  const name = textAt(container, 'name');
  const problem = dnsLabelProblem(name);
  if (name === '') causes.push(required(`${path}.name`));
  else if (problem !== undefined) causes.push(invalidValue(`${path}.name`, name, problem));
  else if (names.has(name)) causes.push(duplicateValue(`${path}.name`, name));
  names.add(name);
  if (textAt(container, 'image') === '') causes.push(required(`${path}.image`));
  if (!['Always', 'IfNotPresent', 'Never'].includes(textAt(container, 'imagePullPolicy'))) {
    causes.push(
      notSupported(`${path}.imagePullPolicy`, container.imagePullPolicy ?? '', ['Always', 'IfNotPresent', 'Never']),
    );
  }
  const portNames = new Set<string>();
  objectsAt(container, 'ports').forEach((port, index) => {
    append(causes, validatePort(port, `${path}.ports[${index}]`, portNames));
  });
  append(causes, validateResources(objectAt(container, 'resources'), `${path}.resources`));
  return causes;
}

function validatePort(port: JsonObject, path: string, names: Set<string>): StatusCause[] {
  const name = textAt(port, 'name');
  const problems = name === '' ? [] : portNameProblems(name);
  const causes = problems.map((problem) => invalidValue(`${path}.name`, name, problem));
  if (name !== '' && problems.length === 0) {
    if (names.has(name)) causes.push(duplicateValue(`${path}.name`, name));
    names.add(name);
  }
  for (const field of ['containerPort', 'hostPort']) {
    const value = port[field];
    if (value === undefined && field === 'hostPort') continue;
    if (value === undefined) causes.push(required(`${path}.${field}`));
    else if (typeof value !== 'number' || value < (field === 'hostPort' ? 0 : 1) || value > 65535) {
      causes.push(invalidValue(`${path}.${field}`, value, 'must be between 1 and 65535, inclusive'));
    }
  }
  if (!['TCP', 'UDP', 'SCTP'].includes(textAt(port, 'protocol'))) {
    causes.push(notSupported(`${path}.protocol`, port.protocol ?? '', ['SCTP', 'TCP', 'UDP']));
  }
  return causes;
}

function validateResources(resources: JsonObject | undefined, path: string): StatusCause[] {
  const causes = [...validateQuantities(resources, 'limits', path), ...validateQuantities(resources, 'requests', path)];
  if (causes.length > 0) return causes;
  const limits = objectAt(resources, 'limits') ?? {};
  const requests = objectAt(resources, 'requests') ?? {};
  for (const name of new Set([...Object.keys(limits), ...Object.keys(requests)])) {
    const problem = qualifiedNameProblem(name);
    if (problem !== undefined) causes.push(invalidValue(`${path}.requests[${name}]`, name, problem));
  }
  for (const [name, request] of Object.entries(requests)) {
    const limit = ownValue(limits, name);
    const extended = !nativeResource.test(name);
    if (limit === undefined) {
      if (extended) causes.push(required(`${path}.limits`, 'Limit must be set for non overcommitable resources'));
      continue;
    }
    const order = compareQuantities(parseQuantity(request), parseQuantity(limit));
    const shown = `${name} limit of ${typeof limit === 'string' ? limit : JSON.stringify(limit)}`;
    if (extended && order !== 0) {
      causes.push(invalidValue(`${path}.requests`, request, `must be equal to ${shown}`));
    } else if (order > 0) {
      causes.push(invalidValue(`${path}.requests`, request, `must be less than or equal to ${shown}`));
    }
  }
  return causes;
}

function validateGates(spec: JsonObject | undefined): StatusCause[] {
  const causes: StatusCause[] = [];
  const seen = new Set<string>();
  objectsAt(spec, 'schedulingGates').forEach((gate, index) => {
    const path = `spec.schedulingGates[${index}].name`;
    const name = textAt(gate, 'name');
    const problem = qualifiedNameProblem(name);
    if (problem !== undefined) causes.push(invalidValue(path, name, problem));
    if (seen.has(name)) causes.push(duplicateValue(path, name));
    seen.add(name);
  });
  if (seen.size > 0 && textAt(spec, 'nodeName') !== '') {
    causes.push(fieldForbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  }
  return causes;
}

function validateTolerations(spec: JsonObject | undefined): StatusCause[] {
  const causes: StatusCause[] = [];
  objectsAt(spec, 'tolerations').forEach((toleration, index) => {
    const path = `spec.tolerations[${index}]`;
    const operator = textAt(toleration, 'operator');
    const key = textAt(toleration, 'key');
    const effect = textAt(toleration, 'effect');
    if (!['', 'Equal', 'Exists'].includes(operator)) {
      causes.push(notSupported(`${path}.operator`, operator, ['Equal', 'Exists']));
    }
    if (operator === 'Exists' && textAt(toleration, 'value') !== '') {
      causes.push(
        invalidValue(`${path}.operator`, toleration.value ?? '', "value must be empty when `operator` is 'Exists'"),
      );
    }
    if (key === '' && operator !== 'Exists') {
      causes.push(
        invalidValue(
          `${path}.operator`,
          operator,
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      );
    }
    if (!['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'].includes(effect)) {
      causes.push(notSupported(`${path}.effect`, effect, ['NoSchedule', 'PreferNoSchedule', 'NoExecute']));
    }
    if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
      causes.push(invalidValue(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
  });
  return causes;
}
