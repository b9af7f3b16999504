/** The room that all attempts of an instance share. */
import { describe, expect, test } from 'vitest';
import { Room } from '../../services/code-run/runner/room.ts';

/** A room for 100 bytes in which attempts only note that they are given up. */
function roomOf100(readsMax = 2) {
  const room = new Room(100, readsMax);
  const givenUp: string[] = [];
  const enter = (name: string, bytes = 0) => {
    const share = room.enter(() => void givenUp.push(name));
    share.hold(bytes);
    return share;
  };
  return { room, givenUp, enter };
}

/** Resolves once all that is ready to run has run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Whether a promise has resolved by now. */
async function isOpen(wait: Promise<void> | undefined): Promise<boolean> {
  let open = wait === undefined;
  void wait?.then(() => {
    open = true;
  });
  await settled();
  return open;
}

describe('a room', () => {
  test('is full at its bound, and past it gives up the attempt that holds most', () => {
    const { room, givenUp, enter } = roomOf100();
    enter('small', 10);
    enter('large', 60);
    const last = enter('last', 30);
    expect([room.heldBytes, givenUp]).toEqual([100, []]);
    last.hold(31);
    expect([room.heldBytes, givenUp]).toEqual([101, ['large']]);
  });

  test('gives up as many as it takes, and none for what those hold that are given up already', () => {
    const { givenUp, enter } = roomOf100();
    enter('a', 40);
    enter('b', 50);
    const c = enter('c', 10);
    c.hold(11);
    c.hold(50);
    expect(givenUp).toEqual(['b']);
    c.hold(101);
    expect(givenUp).toEqual(['b', 'c']);
  });

  test('counts what was given up until it is let go', () => {
    const { room, enter } = roomOf100();
    const large = enter('large', 90);
    enter('small', 20);
    expect(room.heldBytes).toBe(110);
    large.ended();
    expect(room.heldBytes).toBe(110);
    large.leave();
    large.leave();
    large.hold(5);
    expect(room.heldBytes).toBe(20);
  });

  test('lets nobody take in more until those have ended that it gave up', async () => {
    const { room, enter } = roomOf100();
    const large = enter('large', 90);
    expect(room.wait()).toBeUndefined();
    enter('small', 20);
    const wait = room.wait();
    expect(await isOpen(wait)).toBe(false);
    large.leave();
    expect(await isOpen(wait)).toBe(true);
  });

  test('waits for no core that has not read the end of an attempt', async () => {
    const { room, givenUp, enter } = roomOf100();
    const unread = enter('unread', 90);
    const small = enter('small', 20);
    unread.ended();
    expect(await isOpen(room.wait())).toBe(true);
    small.hold(21);
    expect(givenUp).toEqual(['unread', 'small']);
    expect(await isOpen(room.wait())).toBe(false);
    small.leave();
    expect(await isOpen(room.wait())).toBe(true);
  });

  test('opens when enough is let go, whoever does', async () => {
    const { room, enter } = roomOf100();
    enter('large', 90);
    const small = enter('small', 20);
    const wait = room.wait();
    small.hold(11);
    expect(await isOpen(wait)).toBe(false);
    small.hold(10);
    expect(await isOpen(wait)).toBe(true);
  });

  test('has attempts that hold less while they are given up', () => {
    const room = new Room(100, 1);
    const first = room.enter(() => first.hold(0));
    const second = room.enter(() => {});
    first.hold(80);
    second.hold(70);
    expect(room.heldBytes).toBe(70);
    expect(room.wait()).toBeUndefined();
  });
});

describe('reading journals', () => {
  test('goes on a few at a time, in order, whether it succeeds or not', async () => {
    const { room } = roomOf100(2);
    const begun: number[] = [];
    const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
    const reads = gates.map(({ promise }, at) =>
      room.read(() => {
        begun.push(at);
        return promise;
      }),
    );
    await settled();
    expect(begun).toEqual([0, 1]);
    gates[1]?.reject(new Error('no store'));
    await expect(reads[1]).rejects.toThrow('no store');
    await settled();
    expect(begun).toEqual([0, 1, 2]);
    for (const { resolve } of gates) resolve();
    await Promise.all([reads[0], reads[2], reads[3]]);
    expect(begun).toEqual([0, 1, 2, 3]);
    await room.read(async () => begun.push(4));
  });

  test('waits until there is room', async () => {
    const { room, enter } = roomOf100();
    const large = enter('large', 90);
    enter('small', 20);
    let begun = false;
    const read = room.read(async () => {
      begun = true;
    });
    await settled();
    expect(begun).toBe(false);
    large.leave();
    await read;
    expect(begun).toBe(true);
  });
});
