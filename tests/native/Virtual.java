// SPDX-License-Identifier: GPL-2.0
/*
 * Virtual MS: a virtual thread that waits again and again, with LEVELS methods deep() below it, and
 * writes after each time. Most of these methods are not on its stack then.
 */
import java.io.FileOutputStream;

public class Virtual {
	static final int LEVELS = 200;

	static int deep(int n, long end) throws Exception
	{
		if (n > 1)
			return deep(n - 1, end) + 1;
		try (FileOutputStream out = new FileOutputStream("/dev/null")) {
			while (System.currentTimeMillis() < end) {
				Thread.sleep(1);
				out.write(n);
			}
		}
		return n;
	}

	static void run(long ms)
	{
		try {
			deep(LEVELS, System.currentTimeMillis() + ms);
		} catch (Exception e) {
			System.exit(1);
		}
	}

	public static void main(String[] args) throws Exception
	{
		long ms = Long.parseLong(args[0]);

		Thread.ofVirtual().start(() -> run(ms)).join();
	}
}
