// SPDX-License-Identifier: GPL-2.0
/*
 * Traps MS: compiled methods meet cases that they were not compiled for: exceptions that go through
 * several methods, in some of 30,000 calls, and objects of another class.
 */
public class Traps {
	interface Shape {
		int size();
	}

	static final RuntimeException FAILS = new RuntimeException();
	static int sum;

	static int fails(int n, boolean now)
	{
		if (n == 0 && now)
			throw FAILS;
		return n == 0 ? 0 : fails(n - 1, now) + 1;
	}

	static int catches(int n, boolean now)
	{
		try {
			return fails(n, now);
		} catch (RuntimeException e) {
			return n;
		}
	}

	static int adds(Shape[] shapes)
	{
		int n = 0;

		for (Shape s : shapes)
			n += s.size();
		return n;
	}

	static void turn(Shape usual, Shape other)
	{
		Shape[] shapes = { usual, usual, usual };

		for (int i = 0; i < 30000; i++)
			sum += adds(shapes) + catches(i % 4, i % 97 == 0);
		shapes[1] = other;
		for (int i = 0; i < 100; i++)
			sum += adds(shapes);
	}

	public static void main(String[] args)
	{
		long end = System.currentTimeMillis() + Long.parseLong(args[0]);

		do {
			turn(() -> 1, () -> 2);
		} while (System.currentTimeMillis() < end);
	}
}
