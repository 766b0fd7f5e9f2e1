import { append } from '../append.ts';
import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { objectsAt, textAt, textsAt } from './access.ts';
import { qualifiedNameCauses } from './field-rules.ts';
import { fieldForbidden, invalidValue, required } from '../schema/field-error.ts';
import { validateLabels } from './validate-metadata.ts';

/** Checks a label selector. An absent selector is valid. */
export function validateSelector(selector: JsonObject | undefined, path: string): StatusCause[] {
  const causes = validateLabels(selector?.matchLabels, `${path}.matchLabels`);
  objectsAt(selector, 'matchExpressions').forEach((expression, index) => {
    const place = `${path}.matchExpressions[${index}]`;
    const values = textsAt(expression, 'values');
    const operator = textAt(expression, 'operator');
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) {
        causes.push(required(`${place}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
      }
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) {
        causes.push(
          fieldForbidden(`${place}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        );
      }
    } else {
      causes.push(invalidValue(`${place}.operator`, operator, 'not a valid selector operator'));
    }
    append(causes, qualifiedNameCauses(`${place}.key`, textAt(expression, 'key')));
  });
  return causes;
}
