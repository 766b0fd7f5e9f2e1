import { withDefaults } from './argument-defaults.ts';
import { typeFields } from './argument-schema.ts';
import type { ObjectSchema, ValueOf } from './argument-schema.ts';
import { compileArgumentSchema } from './compile-argument-schema.ts';
import type { ArgumentValidator } from './compile-argument-schema.ts';
import { PluginArgumentsError } from './plugin-arguments-error.ts';

/**
 * Reads and validates a plugin's arguments by a JSON schema:
 *
 *     const nightNodesArguments = new PluginArguments('NightNodes', {
 *       type: 'object',
 *       additionalProperties: false,
 *       properties: {
 *         untilHour: { type: 'integer', minimum: 0, maximum: 23, default: 6 },
 *       },
 *     });
 *     const { untilHour } = nightNodesArguments.read(args);
 *
 * Like every pluginConfig entry, arguments may have `apiVersion` and `kind`; the kind is the plugin's name followed by "Args". Put rules
 * that the keywords cannot express into a `check`. The schema is compiled on the first use.
 */
export class PluginArguments<const Schema extends ObjectSchema> {
  readonly plugin: string;
  readonly schema: ObjectSchema;
  #validate: ArgumentValidator | undefined;

  constructor(plugin: string, schema: Schema) {
    this.plugin = plugin;
    this.schema = schema;
  }

  /**
   * Returns the arguments with defaults filled in. `args` is decoded JSON or YAML and is not modified. As in kube-scheduler, null counts
   * as absent, for the arguments as a whole and for every known field. Throws a PluginArgumentsError with all problems.
   */
  read(args: unknown): ValueOf<Schema> {
    const value = withDefaults(this.schema, args ?? {});
    const isAbsent = args === undefined || args === null;
    if (!isAbsent || this.schema.required !== undefined) {
      this.#validate ??= compileArgumentSchema(withTypeFields(this.plugin, this.schema));
      const problems = this.#validate(value);
      if (problems.length > 0) throw new PluginArgumentsError(this.plugin, problems);
    }
    return withoutTypeFields(this.schema, value) as ValueOf<Schema>;
  }
}

/** Returns the schema of a plugin without arguments. */
export function noArguments(plugin: string): PluginArguments<{ type: 'object'; additionalProperties: false }> {
  return new PluginArguments(plugin, { type: 'object', additionalProperties: false });
}

function withTypeFields(plugin: string, schema: ObjectSchema): ObjectSchema {
  const [apiVersion, kind] = typeFields;
  return {
    ...schema,
    properties: { [apiVersion]: { type: 'string' }, [kind]: { enum: [`${plugin}Args`] }, ...schema.properties },
  };
}

function withoutTypeFields({ properties = {} }: ObjectSchema, value: unknown): unknown {
  const implicit = new Set<string>(typeFields.filter((name) => !Object.hasOwn(properties, name)));
  return Object.fromEntries(Object.entries(value as object).filter(([name]) => !implicit.has(name)));
}
