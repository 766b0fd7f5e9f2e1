import { expect, test } from 'vitest';
import { DeliveryGate } from './delivery-gate.ts';

test('an open gate applies at once', () => {
  const gate = new DeliveryGate();
  const applied: number[] = [];
  gate.deliver(() => applied.push(1));
  expect(applied).toEqual([1]);
});

test('what is delivered while the gate opens comes after what waited', () => {
  const gate = new DeliveryGate();
  const applied: string[] = [];
  gate.close();
  gate.deliver(() => {
    applied.push('first');
    gate.deliver(() => applied.push('third'));
  });
  gate.deliver(() => applied.push('second'));
  gate.open();
  expect(applied).toEqual(['first', 'second', 'third']);
  expect(gate.held).toBe(0);
});

test('only the last of several openings opens', () => {
  const gate = new DeliveryGate();
  const applied: number[] = [];
  gate.close();
  gate.close();
  gate.deliver(() => applied.push(1));
  gate.open();
  expect(applied).toEqual([]);
  gate.open();
  expect(applied).toEqual([1]);
  expect(() => gate.open()).toThrow('the gate is open already');
});

test('a change that closes the gate again holds back the rest', () => {
  const gate = new DeliveryGate();
  const applied: number[] = [];
  gate.close();
  gate.deliver(() => {
    applied.push(1);
    gate.close();
  });
  gate.deliver(() => applied.push(2));
  gate.open();
  expect(applied).toEqual([1]);
  expect(gate.held).toBe(1);
  gate.open();
  expect(applied).toEqual([1, 2]);
});
