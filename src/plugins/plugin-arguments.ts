import { withDefaults } from './argument-defaults.ts';
import { typeFields } from './argument-schema.ts';
import type { ObjectSchema, ValueOf } from './argument-schema.ts';
import { compileArgumentSchema } from './compile-argument-schema.ts';
import type { ArgumentValidator } from './compile-argument-schema.ts';
import { PluginArgumentsError } from './plugin-arguments-error.ts';

/**
 * What a plugin's arguments have to be, stated as a JSON schema, and the one way to read them:
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
 * Arguments may always carry `apiVersion` and `kind`, as every pluginConfig entry may; the kind is the plugin's name and
 * "Args". What a schema cannot say goes into a `check` in it. The schema is compiled when there are arguments to read.
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
   * The arguments with their defaults filled in. `args` is what JSON or YAML decodes to, and stays as it is. As in
   * kube-scheduler, null counts as absent, as a whole and in every field that the schema knows. Throws PluginArgumentsError
   * with everything that is wrong.
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

/** The arguments of a plugin that takes none. */
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
  const unasked = new Set<string>(typeFields.filter((name) => !Object.hasOwn(properties, name)));
  return Object.fromEntries(Object.entries(value as object).filter(([name]) => !unasked.has(name)));
}
