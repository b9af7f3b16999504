import { describe, expect, test } from 'vitest';
import { EventQueue } from '../../services/code-run/runner/event-queue.ts';

async function all<T>(queue: EventQueue<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of queue) items.push(item);
  return items;
}

describe('an event queue', () => {
  test('gives what was pushed in its order, whether it waits for it or not', async () => {
    const queue = new EventQueue<number>();
    queue.push(1);
    queue.push(2);
    const reading = all(queue);
    await Promise.resolve();
    queue.push(3);
    queue.close();
    queue.push(4);
    expect(await reading).toEqual([1, 2, 3]);
    expect(await all(queue)).toEqual([]);
  });

  test('throws its error once, after what came before it', async () => {
    const queue = new EventQueue<number>();
    queue.push(1);
    queue.close({ error: new Error('broken') });
    queue.close();
    expect(await queue.next()).toEqual({ done: false, value: 1 });
    await expect(queue.next()).rejects.toThrow('broken');
    expect(await queue.next()).toEqual({ done: true, value: undefined });
  });

  test('rejects a reader that waits', async () => {
    const queue = new EventQueue<number>();
    const reading = queue.next();
    queue.close({ error: new Error('broken') });
    await expect(reading).rejects.toThrow('broken');
  });

  test('says when its reader leaves, but not after its end', async () => {
    let abandoned = 0;
    const queue = new EventQueue<number>(() => {
      abandoned += 1;
    });
    queue.push(1);
    queue.push(2);
    for await (const item of queue) {
      expect(item).toBe(1);
      break;
    }
    expect(abandoned).toBe(1);
    await queue.return();
    expect(abandoned).toBe(1);
    expect(await all(queue)).toEqual([]);
  });

  test.each([
    ['it waits for the end', {}, 'before'],
    ['it waits for an error', { error: new Error('broken') }, 'before'],
    ['it comes to the end', {}, 'after'],
    ['it comes to an error', { error: new Error('broken') }, 'after'],
  ] as const)('says when all is read: %s', async (_name, end, closing) => {
    let read = false;
    const queue = new EventQueue<number>(undefined, () => {
      read = true;
    });
    queue.push(1);
    await queue.next();
    const waiting = closing === 'before' ? queue.next() : undefined;
    expect(read).toBe(false);
    queue.close(end);
    await (waiting ?? queue.next()).catch(() => {});
    expect(read).toBe(true);
  });

  test('says that all is read when its reader leaves, before the end or after', async () => {
    for (const end of [undefined, {}]) {
      let read = false;
      const queue = new EventQueue<number>(undefined, () => {
        read = true;
      });
      queue.push(1);
      if (end !== undefined) queue.close(end);
      expect(read).toBe(false);
      await queue.return();
      expect(read).toBe(true);
    }
  });

  test('takes back what was not read', async () => {
    const queue = new EventQueue<number>();
    for (const item of [1, 2, 3, 4]) queue.push(item);
    await queue.next();
    queue.retract((item) => item % 2 === 0);
    queue.close();
    expect(await all(queue)).toEqual([3]);
  });
});
