import { compareQuantities, parseQuantity } from '../../../../api/quantity.ts';
import { append } from '../../append.ts';
import type { StatusCause } from '../../http/api-error.ts';
import type { JsonObject } from '../../json.ts';
import { duplicateValue, fieldForbidden, invalidValue, notSupported, required } from '../../schema/field-error.ts';
import { objectAt, objectsAt, ownValue, textAt } from '../access.ts';
import { dnsLabelProblem, dnsSubdomainProblem, qualifiedNameProblem } from '../field-rules.ts';
import { validateQuantities } from '../quantity-fields.ts';
import { validateLabels } from '../validate-metadata.ts';

const nativeResource = /^(cpu|memory|ephemeral-storage|storage|hugepages-.+)$/;

/** Checks the fields of a pod that scheduling and simulation depend on. Its defaults must be set. */
export function validatePod(pod: JsonObject): StatusCause[] {
  const spec = objectAt(pod, 'spec') ?? {};
  const causes: StatusCause[] = [];
  if (objectsAt(spec, 'containers').length === 0) causes.push(required('spec.containers'));
  const names = new Set<string>();
  for (const field of ['initContainers', 'containers']) {
    objectsAt(spec, field).forEach((container, index) => {
      append(causes, validateContainer(container, `spec.${field}[${index}]`, names));
    });
  }
  append(causes, oneOf(spec, 'restartPolicy', ['Always', 'OnFailure', 'Never'], 'spec'));
  append(causes, validateLabels(spec.nodeSelector, 'spec.nodeSelector'));
  append(causes, validateQuantities(spec, 'overhead', 'spec'));
  append(causes, validateResources(objectAt(spec, 'resources'), 'spec.resources'));
  append(causes, validateGates(spec));
  append(causes, validateTolerations(spec));
  append(causes, validateSchedulingGroup(objectAt(spec, 'schedulingGroup')));
  for (const field of ['nodeName', 'schedulerName', 'priorityClassName']) {
    const value = textAt(spec, field);
    const problem = value === '' ? undefined : dnsSubdomainProblem(value);
    if (problem !== undefined) causes.push(invalidValue(`spec.${field}`, value, problem));
  }
  return causes;
}

function oneOf(owner: JsonObject, field: string, supported: readonly string[], path: string): StatusCause[] {
  const value = textAt(owner, field);
  return supported.includes(value) ? [] : [notSupported(`${path}.${field}`, value, supported)];
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
  objectsAt(container, 'ports').forEach((port, index) => {
    for (const field of ['containerPort', 'hostPort']) {
      const value = port[field] ?? (field === 'hostPort' ? 1 : 0);
      if (Number(value) > 0 && Number(value) <= 65535) continue;
      causes.push(invalidValue(`${path}.ports[${index}].${field}`, value, 'must be between 1 and 65535, inclusive'));
    }
    append(causes, oneOf(port, 'protocol', ['SCTP', 'TCP', 'UDP'], `${path}.ports[${index}]`));
  });
  append(causes, validateResources(objectAt(container, 'resources'), `${path}.resources`));
  return causes;
}

function validateResources(resources: JsonObject | undefined, path: string): StatusCause[] {
  const causes = [...validateQuantities(resources, 'limits', path), ...validateQuantities(resources, 'requests', path)];
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
    if (order <= 0 && !(extended && order !== 0)) continue;
    const rule = extended ? 'must be equal to' : 'must be less than or equal to';
    causes.push(
      invalidValue(
        `${path}.requests`,
        request,
        `${rule} ${name} limit of ${JSON.stringify(limit).replaceAll('"', '')}`,
      ),
    );
  }
  return causes;
}

function validateGates(spec: JsonObject): StatusCause[] {
  const gates = objectsAt(spec, 'schedulingGates').map((gate) => textAt(gate, 'name'));
  const seen = new Set<string>();
  const causes = gates.flatMap((name, index) => {
    const path = `spec.schedulingGates[${index}].name`;
    const problem = qualifiedNameProblem(name);
    if (problem !== undefined) return [invalidValue(path, name, problem)];
    if (seen.has(name)) return [duplicateValue(path, name)];
    seen.add(name);
    return [];
  });
  if (gates.length > 0 && textAt(spec, 'nodeName') !== '') {
    causes.push(fieldForbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  }
  return causes;
}

function validateSchedulingGroup(group: JsonObject | undefined): StatusCause[] {
  if (group === undefined) return [];
  const path = 'spec.schedulingGroup.podGroupName';
  const name = textAt(group, 'podGroupName');
  if (name === '') return [invalidValue(path, null, 'must specify one of: `podGroupName`')];
  const problem = dnsSubdomainProblem(name);
  return problem === undefined ? [] : [invalidValue(path, name, problem)];
}

function validateTolerations(spec: JsonObject): StatusCause[] {
  return objectsAt(spec, 'tolerations').flatMap((toleration, index) => {
    const path = `spec.tolerations[${index}]`;
    const { operator = '', effect = '', key = '', value = '' } = toleration;
    const causes = [
      ...oneOf({ operator }, 'operator', ['', 'Equal', 'Exists'], path),
      ...oneOf({ effect }, 'effect', ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'], path),
    ];
    if (operator === 'Exists' && value !== '') {
      causes.push(invalidValue(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'"));
    }
    if (key === '' && operator !== 'Exists') {
      causes.push(invalidValue(`${path}.operator`, operator, 'operator must be Exists when `key` is empty'));
    }
    if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
      causes.push(invalidValue(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    return causes;
  });
}
