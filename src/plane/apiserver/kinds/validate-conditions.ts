import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { duplicateValue, invalidValue, notSupported, required } from '../schema/field-error.ts';
import { textAt } from './access.ts';
import { qualifiedNameCauses } from './field-rules.ts';

const reasonPattern = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const reasonProblem =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/** Checks conditions of the type that all kinds share, meta/v1 Condition. */
export function validateConditions(conditions: readonly JsonObject[], path: string): StatusCause[] {
  const seen = new Set<string>();
  return conditions.flatMap((condition, index) => {
    const at = `${path}[${index}]`;
    const type = textAt(condition, 'type');
    const isDuplicate = seen.has(type);
    seen.add(type);
    const status = textAt(condition, 'status');
    const reason = textAt(condition, 'reason');
    return [
      ...(isDuplicate ? [duplicateValue(at, type)] : []),
      ...(type === '' ? [required(`${at}.type`, 'is required')] : qualifiedNameCauses(`${at}.type`, type)),
      ...(status === '' ? [required(`${at}.status`)] : []),
      ...(status === '' || ['False', 'True', 'Unknown'].includes(status)
        ? []
        : [notSupported(`${at}.status`, status, ['False', 'True', 'Unknown'])]),
      ...((condition.lastTransitionTime ?? null) === null ? [required(`${at}.lastTransitionTime`)] : []),
      ...(reason === '' ? [required(`${at}.reason`)] : []),
      ...(reason === '' || reasonPattern.test(reason) ? [] : [invalidValue(`${at}.reason`, reason, reasonProblem)]),
    ];
  });
}
