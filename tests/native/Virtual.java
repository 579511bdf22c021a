// SPDX-License-Identifier: GPL-2.0
/*
 * Virtual MS: a virtual thread waits again and again, called by LEVELS methods deep(), and writes
 * each time that it goes on. Most of these methods are then not on its stack.
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
