import { describe, expect, it } from 'vitest';
import { pluginHandle } from '../../test/builders/plugin-handle.ts';
import { Builders } from '../testkit/builders/builders.ts';
import { pluginRegistry } from '../plugins/registry.ts';
import { makePlugin } from './make-plugin.ts';
import type { Plugin } from './plugin.ts';

const handle = pluginHandle(new Builders(), { schedulerName: 'mine' });
const load = (plugin: object): Plugin => makePlugin('Zone', () => plugin as Plugin, undefined, handle);
const rejected = (plugin: object): string => {
  try {
    load(plugin);
  } catch (error) {
    expect((error as Error).name).toBe('ProfileError');
    return (error as Error).message;
  }
  return 'loaded';
};

const remedy = 'make it #private, or move it out of the plugin';
const isNoPoint = 'which is not an extension point';
const pass = (): undefined => undefined;

class Misspelled {
  readonly name = 'Zone';
  filtr(): undefined {
    return undefined;
  }
}

class Inherits extends Misspelled {
  filter(): undefined {
    return undefined;
  }
}

class WithPrivates {
  static readonly version = 1;
  readonly name = 'Zone';
  readonly #zones = new Set<string>();

  filter(): undefined {
    return this.#check();
  }

  toString(): string {
    return `zones ${this.#zones.size}`;
  }

  #check(): undefined {
    return undefined;
  }
}

describe('loading rejects a plugin with a member that is not an extension point', () => {
  it.each<[string, object, string]>([
    ['an own member', { name: 'Zone', filtr: pass }, `filtr, ${isNoPoint}; did you mean filter? Otherwise ${remedy}`],
    ['misspelled only in case', { name: 'Zone', PreFilter: pass }, `PreFilter, ${isNoPoint}; did you mean preFilter?`],
    [
      'the configuration’s name of a point',
      { name: 'Zone', queueSort: pass },
      `queueSort, ${isNoPoint}; did you mean compare?`,
    ],
    [
      'not a function',
      { name: 'Zone', readsOtherNode: true },
      `readsOtherNode, ${isNoPoint}; did you mean readsOtherNodes?`,
    ],
    ['whose value is undefined', { name: 'Zone', filtr: undefined }, `filtr, ${isNoPoint}; did you mean filter?`],
    ['not similar to any point', { name: 'Zone', zones: new Set() }, `zones, ${isNoPoint}; ${remedy}`],
    ['not enumerable', Object.defineProperty({ name: 'Zone' }, 'scor', { value: pass }), 'scor, '],
    ['whose name is not an identifier', { name: 'Zone', 'my filter\n': pass }, '"my filter\\n", '],
    ['a method of its class', new Misspelled(), `filtr, ${isNoPoint}; did you mean filter?`],
    ['a method of a base class', new Inherits(), `filtr, ${isNoPoint}; did you mean filter?`],
    ['inherited from a plain object', Object.create({ name: 'Zone', bindd: pass }) as object, 'bindd, '],
    [
      'on an object without a prototype',
      Object.assign(Object.create(null) as object, { name: 'Zone', filtr: pass }),
      'filtr, ',
    ],
  ])('that is %s', (_what, plugin, message) => {
    expect(rejected(plugin)).toContain(`profile mine: plugin Zone has a member ${message}`);
  });

  it('names all such members at once', () => {
    const message = rejected({ name: 'Zone', filtr: pass, scor: pass });
    expect(message).toContain('did you mean filter?');
    expect(message).toContain('did you mean score?');
  });

  it('does not run the getter of such a member', () => {
    const plugin = {
      name: 'Zone',
      get filtr(): never {
        throw new Error('was run');
      },
    };
    expect(rejected(plugin)).toContain('a member filtr,');
  });
});

describe('loading rejects a plugin', () => {
  it.each(['filter', 'rulesOut', 'name', 'reads'])('when the getter of %s throws', (member) => {
    const get = (): never => {
      throw new Error('not now');
    };
    const plugin = Object.defineProperty({ name: 'Zone' }, member, { get });
    expect(rejected(plugin)).toBe(`profile mine: plugin Zone has a ${member} that cannot be read: not now`);
  });

  it('when its members cannot be listed', () => {
    const plugin = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('closed');
        },
      },
    );
    expect(rejected(plugin)).toBe('profile mine: plugin Zone has members that cannot be read: closed');
  });

  it('when its chain of prototypes does not end', () => {
    const endless = (): object => new Proxy({ name: 'Zone' }, { getPrototypeOf: endless });
    expect(rejected(endless())).toBe(
      'profile mine: plugin Zone has members that cannot be read: more than 100 prototypes',
    );
  });

  it.each(['dependsOnAssignedPods', 'rulesOut', 'domainsFor', 'filter'])('when %s is not a function', (member) => {
    expect(rejected({ name: 'Zone', [member]: true })).toContain(`has a ${member} that is not a function but true`);
  });
});

describe('loading accepts a plugin', () => {
  it.each<[string, object]>([
    ['with private fields and methods', new WithPrivates()],
    ['with members that are symbols', { name: 'Zone', [Symbol('filtr')]: pass, [Symbol.toStringTag]: 'Zone' }],
    ['without a prototype', Object.assign(Object.create(null) as object, { name: 'Zone', filter: pass })],
    ['that inherits its points', Object.create(new WithPrivates(), { score: { value: () => 0 } }) as object],
    ['with points that are undefined', { name: 'Zone', filter: undefined, score: undefined }],
  ])('%s', (_what, plugin) => {
    expect(load(plugin)).toBe(plugin);
  });

  it.each([...pluginRegistry])('of Tutti itself: %s', (name, factory) => {
    expect(makePlugin(name, factory, undefined, handle).name).toBe(name);
  });
});
