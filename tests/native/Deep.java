// SPDX-License-Identifier: GPL-2.0
/*
 * Deep MS: methods that call each other, interpreted or compiled, and wait in Thread.sleep() at the
 * end. The stack has LEVELS methods inner() and outer() there, and those of the start.
 */
import java.util.HashMap;

public class Deep {
	static final int LEVELS = 10;
	static long sum;

	static int inner(int n) throws Exception
	{
		if (n > 0)
			return outer(n - 1) + 1;
		Thread.sleep(0, 1);
		return 0;
	}

	static int outer(int n) throws Exception
	{
		HashMap<Integer, Integer> m = new HashMap<>();

		for (int i = 0; i < 20; i++)
			m.merge(i % 7, n, Integer::sum);
		return inner(n) + m.size();
	}

	static void turns(long ms) throws Exception
	{
		long end = System.currentTimeMillis() + ms;

		while (System.currentTimeMillis() < end)
			sum += outer(LEVELS - 1);
	}

	public static void main(String[] args) throws Exception
	{
		turns(Long.parseLong(args[0]));
	}
}
